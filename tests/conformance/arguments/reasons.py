"""Arguments that are deliberately taken without an effect, or in another way, and why."""

from __future__ import annotations

import functools
from fnmatch import fnmatchcase

#: Patterns of functions and parameters.
REASONS: dict[str, str] = {
    "*.copy": "results never share memory with what they are made of",
    "*.deep": "results never share memory with what they are made of",
    "*.kind": "sorts are stable, whatever is asked for",
    "*.sort_remaining": "all levels are sorted",
    "*.engine": "it decides about speed only",
    "*.engine_kwargs": "it decides about speed only",
    "*.local_dict": "pandas takes any mapping that can be copied",
    "*.global_dict": "pandas takes any mapping that can be copied",
    "*.by_row": "pandas asserts",
    "Levels.sort_index.ascending": "a number is a flag, as for other labels",
    "np.eye.M": "a text is the size of chunks, as in Dask",
    "Series.argm*.axis": "a series has one axis, by number or by name",
    "np.*.order": "the layout in memory is its own",
    "np.*.subok": "there are no subclasses",
    "np.*.overwrite_input": "inputs are never written to",
    "np.*.like": "collections make their own",
    "np.*.out": "arrays are tested by their own",
    "np.*.where": "results without out= are undefined where it is false",
    "np.*.sorted": "values are sorted, whether or not they have to be",
}


#: Patterns of values that the reference refuses and that ours take.
REFUSALS: dict[str, str] = {
    "np.*=None": "None is the default",
    "np.*.axis=True": "a flag is a number",
    "np.*.N=True": "a flag is a number",
    "np.*.count=True": "a flag is a number",
    "np.*.minlength=True": "a flag is a number",
    "np.*.keepdims=*": "what is true keeps the axes",
}
#: Patterns of values that have another effect than in the reference, which is a fault of ours.
FAULTS = (
    *("DataFrame.eval.inplace=None", "DataFrame.insert.loc=*", "DataFrame.isetitem.loc=*"),
    *("*.reindex.labels=*", "*.reindex.axis=*", "Series.*divmod.fill_value=*"),
    *("Series.drop.index=*", "Series.get.key=*", "Index.difference.other=*", "Index.*.sort=*"),
    *("Index.dropna.how=*", "Index.insert.loc=*", "Index.intersection.other=*"),
    *("Index.join.how=*", "Index.rename.name=*", "Levels.groupby.by=*"),
    *("Timed.resample.convention=*", "np.convolve.mode=*", "np.correlate.mode=*"),
    *("np.histogram_bin_edges.weights=*", "np.*.assume_unique=*", "np.mat*.casting=*"),
    *("np.vec*.casting=*", "np.polyfit.*=*", "np.trim_zeros.*=*"),
)


@functools.cache
def reason(name: str, parameter: str) -> str:
    """Return why a parameter of a function is not compared, if it is not."""
    path = f"{name}.{parameter}"
    return next((why for pattern, why in REASONS.items() if fnmatchcase(path, pattern)), "")


@functools.cache
def excuse(name: str, argument: str, verdict: str) -> bool:
    """Tell whether a verdict on an argument, as ``parameter=value``, is known."""
    patterns = [*FAULTS, *(REFUSALS if verdict.startswith("taken") else ())]
    return any(fnmatchcase(f"{name}.{argument}", pattern) for pattern in patterns)
