"""The views as instruments: their payloads for the page, and what answers the page while there is a kernel."""
