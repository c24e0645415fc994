// JupyterLab's way in: a module-federation container written by hand, and the renderer of stored views.
//
// A stored view is drawn at once, kernel or not. When the notebook's kernel still has the view, the page opens a comm to
// it, and what is chosen in the page is known to Python (interactive/link.py is the other end).

(() => {
  "use strict";
  const MIME = "application/vnd.tfsandbox.graph+json", TARGET = "tfsandbox.view";
  const home = document.currentScript.src.replace(/[^/]*$/, "");
  let scope = {};

  // A library that JupyterLab has loaded already.
  async function shared(name) {
    const offers = Object.values(scope[name] || {});
    const offer = offers.find((found) => found.loaded) || offers[0];
    return (await offer.get())();
  }

  // Whether a kernel has loaded the other end; asked once a kernel and minute, after what the kernel is busy with.
  const known = new WeakMap();
  function hasViews(kernel) {
    const before = known.get(kernel);
    if (before && Date.now() - before.at < 60000 && before.yes) return Promise.resolve(true);
    const question = "'tfsandbox.notebook.interactive.link' in __import__('sys').modules";
    const asked = kernel.requestExecute({code: "", silent: true, store_history: false, allow_stdin: false,
                                         user_expressions: {tfsandbox: question}}, true).done.then((reply) => {
      const yes = reply.content.user_expressions?.tfsandbox?.data?.["text/plain"] === "True";
      known.set(kernel, {at: Date.now(), yes});
      return yes;
    });
    return asked.catch(() => false);
  }

  function rendererClass(Widget) {
    return class extends Widget {
      constructor() {
        super();
        this.addClass("tfs-output");
      }

      async renderModel(model) {
        const {kind, link, json} = model.data[MIME];
        try {
          if (!/^[a-z_]+$/.test(kind)) throw new Error(`what is a view of kind ${kind}?`);
          const [core, {mount}] = await Promise.all([import(`${home}src/core.js`), import(`${home}src/mount.js`),
                                                     import(`${home}src/${kind}.js`).catch(() => null)]);
          const payload = JSON.parse(json);
          this.drop();
          this.host = new core.Host();
          this.start = () => {
            this.start = null;
            this.view = mount(this.node, payload, this.host);
            this.key = link;
            this.connect();
          };
          if (this.isAttached) this.start();
        } catch (error) {
          this.node.textContent = `tfsandbox cannot draw this view: ${error.message}`;
        }
      }

      onAfterAttach() {
        if (this.start) this.start(); else this.connect();
      }

      // The notebook or console around the output knows the kernel.
      connect() {
        let around = this.parent;
        while (around && !around.sessionContext) around = around.parent;
        const context = around?.sessionContext;
        if (!this.key || !context || this.context === context) return;
        this.context = context;
        context.kernelChanged.connect(this.relink, this);
        context.statusChanged.connect(this.follow, this);
        Promise.resolve(context.ready).then(() => this.relink());
      }

      follow(context, status) {
        if (status === "restarting" || status === "autorestarting" || status === "dead") this.host?.detach();
      }

      async relink() {
        const kernel = this.context?.session?.kernel, {host} = this;
        if (!kernel || host.live || !(await hasViews(kernel)) || host !== this.host || host.live) return;
        const comm = kernel.createComm(TARGET);
        comm.onMsg = ({content: {data}}) => {
          if (!host.live) this.attach(host, comm, data.set || {});
          for (const [name, value] of Object.entries(data.set || {})) host.receive(name, value);
          if (data.message) host.take(data.message);
        };
        comm.onClose = () => host.detach();
        comm.open({link: this.key});
        this.comm = comm;
      }

      // What the reader has chosen before the kernel answered stays chosen, unless Python has chosen already.
      attach(host, comm, values) {
        host.attach({
          set(name, value) { comm.send({set: {[name]: value}}); },
          send(message) { comm.send({message}); },
        });
        for (const [name, value] of Object.entries(values)) {
          const mine = host.get(name);
          if (!Object.keys(value).length && Object.keys(mine || {}).length) {
            comm.send({set: {[name]: mine}});
            delete values[name];
          }
        }
      }

      drop() {
        this.context?.kernelChanged.disconnect(this.relink, this);
        this.context?.statusChanged.disconnect(this.follow, this);
        this.context = null;
        if (this.comm && !this.comm.isDisposed) this.comm.close();
        this.comm = null;
        this.view?.destroy();
        this.view = null;
      }

      dispose() {
        if (this.isDisposed) return;
        this.drop();
        super.dispose();
      }
    };
  }

  async function mimeExtension() {
    const {Widget} = await shared("@lumino/widgets");
    const Renderer = rendererClass(Widget);
    // Before the widget in the same output, which shows nothing once its kernel is gone; and safe: text is set as text.
    const rendererFactory = {safe: true, mimeTypes: [MIME], defaultRank: -10, createRenderer: () => new Renderer()};
    return {__esModule: true, default: {id: "tfsandbox:view", rendererFactory, rank: -10, dataType: "json"}};
  }

  const container = {
    init(given) { scope = given; },
    async get(name) {
      if (name !== "./mimeExtension") throw new Error(`tfsandbox has no module ${name}`);
      const found = await mimeExtension();
      return () => found;
    },
  };
  (window._JUPYTERLAB = window._JUPYTERLAB || {}).tfsandbox = container;
})();
