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
    "*.verbose": "it decides about what is printed only",
    "*.n_jobs": "it decides about speed only",
    "*.copy_X": "inputs are never written to",
    "*.selection": "minima do not depend on how they are searched for",
    "*.solver": "minima do not depend on how they are searched for",
    "*.max_iter": "steps of our own solvers are other ones",
    "*.tol": "steps of our own solvers are other ones",
    "*.check_input": "inputs are always checked",
    "*.by_row": "pandas asserts",
    "Levels.sort_index.ascending": "a number is a flag, as for other labels",
    "np.eye.M": "a text is the size of chunks, as in Dask",
    "Series.argm*.axis": "a series has one axis, by number or by name",
    "np.*.order": "the layout in memory is its own",
    "np.*.subok": "there are no subclasses",
    "np.*.overwrite_input": "inputs are never written to",
    "np.*.like": "collections make their own",
    "*.out": "arrays are tested by their own",
    "np.*.where": "results without out= are undefined where it is false",
    "np.*.sorted": "values are sorted, whether or not they have to be",
}


#: Patterns of values that the reference refuses and that ours take.
REFUSALS: dict[str, str] = {
    **{f"{title}.*=None": "None is the default" for title in ("np", "array", "random")},
    "*.axis=True": "a flag is a number",
    "*.size=True": "a flag is a number",
    "*.nsample=False": "a flag is a number",
    **{f"np.*.{name}=True": "a flag is a number" for name in ("N", "count", "minlength")},
    "fft.*.n=True": "a flag is a number",
    "np.*.keepdims=*": "what is true keeps the axes",
    "array.*.keepdims=*": "what is true keeps the axes",
    "*.max_samples=True": "a flag is a number",
    "*.n_clusters=True": "a flag is a number",
    "*.n_neighbors=True": "a flag is a number",
    "neighbors.*=None": "None is the default",
    "metrics.*.normalize=None": "None is false",
    "linear_model.LogisticRegression.*": "its solver takes all penalties",
    "*.sample_weight=True": "a flag is one weight",
    "*.shuffle=*": "what is true shuffles",
    "*.assume_unique=*": "values are made unique, whether or not they are",
    "linalg.svd.hermitian=*": "the decomposition is that of any matrix",
    "pd.read_*.storage_options=*": "Dask gives them to local file systems, too",
    "pd.read_parquet.filesystem=*": "'pyarrow' is Dask's word for its file systems",
    "pd.concat.names=*": "names are no flag",
    "Series.*divmod.fill_value=*": "they are a quotient and a remainder, which take more types",
    "np.*.casting=True": "a rule is looked at where a type is asked for",
    "np.histogram_bin_edges.weights=*": "edges do not depend on weights",
    "generator.permuted.x=True": "a flag is one value",
}
#: Patterns of values that have another effect than in the reference, as is documented.
DIFFERENCES: dict[str, str] = {
    "DataFrame.eval.inplace=None": "None is no flag",
    "pd.eval.inplace=None": "None is no flag",
    "pd.eval.level=*": "frames of the interpreter that are not needed are not looked at",
    "Index.difference.other={}": "labels are sorted, unless all remain in pandas",
    "Index.intersection.other=[[]0]": "labels keep their type",
    "Index.join.*": "in pandas the name depends on the labels' order",
    "*.pivot_table.aggfunc={}": "no columns have no rows",
    "array.argpartition.axis=None": "the other elements may be sorted",
    "linalg.lstsq.rcond=*": "overdetermined systems have residuals for every rank",
    "linalg.qr.mode=*": "the diagonal of R is not negative",
    "np.intersect1d.assume_unique=*": "values are made unique, whether or not they are",
    "np.polyfit.rcond=*": "it is a number",
    "np.trim_zeros.*": "lists are arrays",
    "array.*.ddof=[[]0]": "it is a number",
    "pd.read_parquet.columns=*": "one column is a series, as in Dask",
    "linear_model.*.solver=*": "minima do not depend on how they are searched for",
    "random.geometric.p=*": "two draws may be equal",
    "generator.*.method=*": "draws are made in one way",
}


@functools.cache
def reason(name: str, parameter: str) -> str:
    """Return why a parameter of a function is not compared, if it is not."""
    path = f"{name}.{parameter}"
    return next((why for pattern, why in REASONS.items() if fnmatchcase(path, pattern)), "")


@functools.cache
def excuse(name: str, argument: str, verdict: str) -> bool:
    """Tell whether a verdict on an argument, as ``parameter=value``, is known."""
    patterns = [*DIFFERENCES, *(REFUSALS if verdict.startswith("taken") else ())]
    return any(fnmatchcase(f"{name}.{argument}", pattern) for pattern in patterns)
