"""What a notebook shows: each view is a plain-data model with its drawings, made from records, not an engine."""

from tfsandbox.notebook.views.code import CodeLine, CodeView
from tfsandbox.notebook.views.gradient import GradientView
from tfsandbox.notebook.views.graph import GraphView
from tfsandbox.notebook.views.prune import PruneStep, PruneView
from tfsandbox.notebook.views.scope_mask import ScopeMaskView
from tfsandbox.notebook.views.variables import VariableRecord, VariablesView
from tfsandbox.notebook.views.view import View

__all__ = ["CodeLine", "CodeView", "GradientView", "GraphView", "PruneStep", "PruneView", "ScopeMaskView",
           "VariableRecord", "VariablesView", "View"]
