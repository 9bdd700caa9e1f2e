"""Programs of estimators."""

from __future__ import annotations

START = """
from sklearn.linear_model import LinearRegression, SGDClassifier
T = np.arange(8.).reshape(4, 2)
objects = np.array([["a"], ["b"], [None]], dtype=object)
gaps = np.array([["a"], [np.nan], [None], ["b"]], dtype=object)
texts = lazy(np.array(["aa", "b", "cccc"], dtype=object)).astype(str).reshape(-1, 1)
halves = np.arange(8, dtype="f2").reshape(4, 2)
"""

EXPRESSIONS: dict[str, str] = {
    "a model fitted anew": """
m = LinearRegression().fit(T, T[:, 0])
before = ParallelPostFit(m).predict(lazy(T))
m.fit(T, 100 * T[:, 0])
m2 = LinearRegression().fit(T, T[:, 0])
ParallelPostFit(m2).predict(lazy(T))""",
    "a model fitted twice": """
m, results = LinearRegression(), []
for scale in (1, 2, 3):
    m.fit(T, scale * T[:, 0])
    results.append(ParallelPostFit(m).predict(lazy(T)))
results""",
    "one hot of None": """
e = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(lazy(objects))
[[c.tolist() for c in e.categories_], e.transform(lazy(objects))]""",
    "one hot of None, strict": """
e = preprocessing.OneHotEncoder(sparse_output=False).fit(lazy(objects))
e.transform(lazy(objects))""",
    "one hot of None and nan": """
e = preprocessing.OneHotEncoder(sparse_output=False).fit(lazy(gaps))
[len(e.categories_[0]), e.transform(lazy(gaps))]""",
    "ordinal of None": """
e = preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
e.fit(lazy(objects))
e.transform(lazy(objects))""",
    "ordinal of None and nan": """
e = preprocessing.OrdinalEncoder().fit(lazy(gaps))
e.transform(lazy(gaps))""",
    "one hot of texts": """
e = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(texts)
[[c.tolist() for c in e.categories_], e.transform(texts)]""",
    "ordinal of texts": """
e = preprocessing.OrdinalEncoder().fit(texts)
[[c.tolist() for c in e.categories_], e.transform(texts)]""",
    "labels of texts": """
e = preprocessing.LabelEncoder().fit(texts.reshape(-1))
[e.classes_, e.transform(texts.reshape(-1))]""",
    **{
        f"half floats: {name}": f"preprocessing.{name}().fit_transform(lazy(halves))"
        for name in (
            "StandardScaler",
            "MinMaxScaler",
            "PolynomialFeatures",
            "RobustScaler",
            "MaxAbsScaler",
        )
    },
    "texts of a classifier": """
from sklearn.tree import DecisionTreeClassifier
m = DecisionTreeClassifier().fit(T, ["a", "long", "a", "longer"])
r = ParallelPostFit(m).predict(lazy(T))
mt.save(here("p.npy"), r)
np.load(here("p.npy"))""",
}

PROGRAMS = {name: f"{START}\n{text.strip()}" for name, text in EXPRESSIONS.items()}

#: Keywords that other libraries of this kind have.
LITERALS: dict[str, tuple[str, str]] = {
    "keywords of Incremental": (
        """
m = Incremental(SGDClassifier(random_state=0), shuffle_blocks=False, assume_equal_chunks=True)
m.fit(lazy(T), lazy(np.array([0, 0, 1, 1])), classes=[0, 1]).predict(lazy(T)).shape""",
        "(4,)",
    ),
    "keywords of ParallelPostFit": (
        """
m = LinearRegression().fit(T, T[:, 0])
ParallelPostFit(m, predict_meta=np.zeros(1)).predict(lazy(T)).round(6)""",
        "np.array([0., 2., 4., 6.])",
    ),
    "back to scikit-learn": (
        """
e = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(lazy(objects))
e.to_sklearn().transform(objects)""",
        "np.eye(3)",
    ),
}
LITERALS = {name: (f"{START}\n{text.strip()}", wanted) for name, (text, wanted) in LITERALS.items()}
