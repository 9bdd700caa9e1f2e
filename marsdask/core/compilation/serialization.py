"""A compilation serialized for a scheduler; it holds nodes only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from marsdask.scheduler.base import Done, Stage

from ..config import option_context, options
from ..dask.source import FromDask
from ..graph import Graph, pack, unpack
from ..machine.plan import Plan
from ..node import Node
from ..results.stored import Stored
from .failures import explain_failure
from .tiling import Compilation, Infos


class ReceivedCompilation(Compilation):
    """A deserialized compilation, driven under the sender's options.

    The machine in their plan is unknown before :meth:`fit`.
    """

    def __init__(
        self,
        roots: Sequence[Node],
        *,
        names: tuple[str, ...],
        plan: Plan,
        check: bool,
        settings: Mapping[str, Any],
    ) -> None:
        self.settings = settings
        self.names = names
        with option_context(settings):
            super().__init__(roots, plan=plan, check=check, lasting=plan.lasting)

    def advance(self, infos: Infos) -> Stage | Done:
        """Continue under the sender's options."""
        with option_context(self.settings):
            step = super().advance(infos)
        if isinstance(step, Done):
            outputs = [step.outputs[root.name] for root in self.roots]
            return Done(dict(zip(self.names, outputs, strict=True)), step.keys)
        return step

    def recompute(self, keys: Collection[Any], held: Collection[Any]) -> Stage:
        """Make tasks again under the sender's options."""
        with option_context(self.settings):
            return super().recompute(keys, held)

    def outline(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return the nodes of the compilation for web pages: {name: (label, input names)}."""
        return {
            node.name: (node.label, tuple(child.name for child in node.inputs))
            for node in self.graph.nodes
        }

    def owner(self, key: Any) -> str | None:
        """Return the name of the node of a task's chunk."""
        grid = self.grids.get(key[0] if isinstance(key, tuple) else key)
        return None if grid is None or grid.node is None else grid.node.name

    def explain(self, key: Any, error: BaseException) -> tuple[BaseException, str | None]:
        """Return the error with a note about the failed task, and the name of its node."""
        grid, index = self.locate(key, error)
        node = None if grid is None or grid.node is None else grid.node.name
        return explain_failure(error, grid, index), node


class SerializedCompilation:
    """Nodes and options; unpickling returns an :class:`ReceivedCompilation`."""

    def __init__(self, graph: Graph, plan: Plan, *, check: bool) -> None:
        # Where tokens are not deterministic, names differ between processes.
        self._names = tuple(root.name for root in graph.roots)
        self._graph = graph.map(_resident)
        self._plan = plan
        self._check = check

    def __reduce__(self) -> tuple[Any, ...]:
        settings = options.to_dict()
        return _received, (pack(self._graph.roots), self._names, self._plan, self._check, settings)


def _received(
    packed: Any, names: tuple[str, ...], plan: Plan, check: bool, settings: Mapping[str, Any]
) -> ReceivedCompilation:
    return ReceivedCompilation(
        unpack(packed), names=names, plan=plan, check=check, settings=settings
    )


def can_be_sent(graph: Graph) -> bool:
    """Tell whether a graph can be serialized without a client's futures."""
    return not any(isinstance(node, FromDask) for node in graph.nodes)


def _resident(node: Node) -> Node:
    return node.resident() if isinstance(node, Stored) else node


def written_at(graph: Graph, name: str | None, error: BaseException) -> None:
    """Add the user's line to an error from elsewhere, if the node of that name has one."""
    origin = next((node.origin for node in graph.nodes if node.name == name), None)
    if origin is not None:
        error.add_note(f"written at {origin}")
