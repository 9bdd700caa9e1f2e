"""Programs of tensors."""

from __future__ import annotations

#: Texts whose widths only the values tell, and times whose unit only the values tell.
START = """
texts = lazy(np.array(["x", "long", "words"], dtype=object)).astype(str)
wide = lazy(np.array(["2000-01-01", "2000-01-02T05", "2001-05-05"], dtype="U13"))
"""

EXPRESSIONS: dict[str, str] = {
    "texts: save": "mt.save(here('q.npy'), texts)\nnp.load(here('q.npy'))",
    "texts: insert": "mt.insert(texts, 0, texts[1])",
    "texts: assign": "t = texts.copy()\nt[0] = 'long'\nt",
    "texts: assign another": "t = texts.copy()\nt[0] = t[2]\nt",
    "texts: full_like": "mt.full_like(texts, 'abcdef')",
    "texts: fill": "t = texts.copy()\nt.fill('LONG')\nt",
    "texts: empty_like": "z = mt.empty_like(texts)\nz[:] = texts\nz",
    "texts: concatenate": "c = mt.concatenate([texts, texts])\nc[0] = c[4]\nc",
    "texts: where": "mt.where(texts == 'x', texts, texts[2])",
    "texts: stack": "mt.stack([texts, texts[::-1]])",
    "texts: repeat": "mt.repeat(texts, 2)",
    "texts: append": "mt.append(texts, texts[:1])",
    "texts: sort": "mt.sort(texts)",
    "texts: unique": "mt.unique(texts)",
    "texts: reshape": "texts.reshape(3, 1)",
    "texts: equal": "(texts == 'long').sum()",
    "bytes: assign": """
b = lazy(np.array([b"x", b"long"], dtype=object)).astype(bytes)
b[0] = b"other"
b""",
    "vectorize of texts": "mt.vectorize(lambda k: 'a' * int(k), otypes=['U4'])(mt.arange(1, 5))",
    "units: times of texts": "wide.astype('M8').astype('i8')",
    "units: view": "wide.astype('M8').view('i8')",
    "units: diff": """
a = lazy(np.array(["2000-01-01", "2001-05-05", "2000-01-01T05", "2002-07-01T09"], dtype="U13"))
mt.diff(a.astype("M8"))""",
    "units: assign": "t = wide.astype('M8')\nt[0] = t[1]\nt",
    "units: save": "mt.save(here('u.npy'), wide.astype('M8'))\nnp.load(here('u.npy'))",
    "units: objects": """
a = np.array([datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 2, 5)], dtype=object)
lazy(a).astype("M8").astype("i8")""",
    "units: durations of objects": """
a = np.array([datetime.timedelta(days=1), datetime.timedelta(seconds=1)], dtype=object)
lazy(a).astype("m8").astype("i8")""",
    "units: concatenate": """
a, b = lazy(np.array(["2000-01-01"])).astype("M8"), lazy(np.array(["2000-01-02T05"])).astype("M8")
mt.concatenate([a, b]).astype("i8")""",
    **{
        f"{name} as {dtype}": f"mt.{name}(lazy(np.array([1, 0, 0, 1])), dtype={dtype})"
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod", "add.accumulate")
        for dtype in ("bool", "'i1'", "'f4'")
    },
    "scan of all axes": "mt.add.accumulate(lazy(np.ones((2, 2))), axis=None)",
    "meshgrid": "mt.meshgrid(lazy(np.arange(4)), lazy(np.arange(5)))[0][3, 2:4]",
    "diag": "mt.diag(lazy(np.arange(9)))[7, 5:9]",
    "outer": "mt.outer(lazy(np.arange(9)), lazy(np.arange(9)))[7, 5:9]",
    "pad": "mt.pad(lazy(np.ones(5)), 20)[18:22]",
    "repeat": "mt.repeat(lazy(np.arange(10)), 9)[7:12]",
    "tile": "mt.tile(lazy(np.arange(10)), 9)[:3]",
    "steps": "mt.arange(100)[::30]",
}

PROGRAMS = {name: f"{START}\n{text.strip()}" for name, text in EXPRESSIONS.items()}

#: What has no program in NumPy: what is passed by a keyword is what it was at the call.
LITERALS: dict[str, tuple[str, str]] = {
    **{
        f"kept argument: {name}": (
            f"""
t, buf, add = lazy(np.ones(2)), np.zeros(2), (lambda b, k: b + k)
call = lambda k: {call}
a = call(buf)
before = a.compute() if {executed} else None
buf[:] = 5
[a, call(np.zeros(2))]""",
            "[np.ones(2), np.ones(2)]",
        )
        for name, call, executed in (
            ("map_blocks", "t.map_blocks(add, k=k[:1], dtype=float)", False),
            ("map_blocks, executed", "t.map_blocks(add, k=k[:1], dtype=float)", True),
            ("partial", "t.map_blocks(functools.partial(add, k=k[:1]), dtype=float)", False),
            ("closure", "t.map_blocks(lambda b: b + k[0], dtype=float)", False),
            ("default", "t.map_blocks(lambda b, k=k: b + k[0], dtype=float)", False),
            (
                "apply_gufunc",
                "mt.apply_gufunc(add, '()->()', t, k=k[:1], output_dtypes=float)",
                False,
            ),
            ("map_overlap", "mt.map_overlap(add, t, depth=0, k=k[:1], dtype=float)", False),
            ("fromfunction", "mt.fromfunction(lambda i, k: i * 0 + 1 + k[0], (2,), k=k)", False),
            ("apply", "md.Series([1., 1.]).apply(add, args=(k[0],)).to_numpy()", False),
            (
                "apply of an array",
                "md.Series([1., 1.]).apply(lambda v, k: v + k[0], args=(k,)).to_numpy()",
                False,
            ),
        )
    },
    "one buffer for spawns": (
        """
import marsdask.remote as mr
buf, calls = np.zeros(1), []
for i in range(3):
    buf[:] = 2 * i
    calls.append(mr.spawn(lambda b: float(b[0]), args=(buf,)))
[call.execute().fetch() for call in calls]""",
        "[0.0, 2.0, 4.0]",
    ),
    "text of one value in zarr": (
        """
import zarr
s = lazy(np.array(["x", "long"], dtype=object)).astype(str)
s.to_zarr(here("z"), overwrite=True)
zarr.open(here("z"))[:].astype(object)""",
        "np.array(['x', 'long'], dtype=object)",
    ),
    "times in zarr": (
        """
s = lazy(np.array(["2000-01-01", "2000-01-02T05"], dtype="U13")).astype("M8")
s.to_zarr(here("z"), overwrite=True)
mt.from_zarr(here("z")).astype("i8")""",
        "np.array(['2000-01-01T00', '2000-01-02T05'], dtype='M8[h]').astype('i8')",
    ),
    "bytes in hdf5": (
        """
import h5py
s = lazy(np.array([b"x", b"long"], dtype=object)).astype(bytes)
s.to_hdf5(here("h.h5"), datapath="d")
with h5py.File(here("h.h5")) as file:
    r = file["d"][:].astype(object)
r""",
        "np.array([b'x', b'long'], dtype=object)",
    ),
    "frame's texts": (
        """
t = md.DataFrame({"k": ["a", "long"]})["k"].to_tensor().astype(str)
mt.save(here("t.npy"), t)
np.load(here("t.npy"))""",
        "np.array(['a', 'long'])",
    ),
    "size of texts": (
        """
s = lazy(np.array(["x", "long"], dtype=object)).astype(str).execute()
s.nbytes""",
        "32",
    ),
    "zarr over itself": (
        """
import zarr
lazy(np.arange(6)).to_zarr(here("z"), overwrite=True)
try:
    (mt.from_zarr(here("z")) + 1).to_zarr(here("z"), overwrite=True)
except Exception as error:
    assert "read" in str(error), error
    r = zarr.open(here("z"))[:]
else:
    r = zarr.open(here("z"))[:] - 1
r""",
        "np.arange(6)",
    ),
    "npy stack over itself": (
        """
mt.to_npy_stack(here("s"), lazy(np.arange(40).reshape(20, 2)))
try:
    mt.to_npy_stack(here("s"), mt.from_npy_stack(here("s"))[::-1])
except Exception as error:
    assert "read" in str(error), error
    r = mt.from_npy_stack(here("s"))
else:
    r = mt.from_npy_stack(here("s"))[::-1]
r""",
        "np.arange(40).reshape(20, 2)",
    ),
    "memory map over itself": (
        """
m = np.memmap(here("m"), dtype="i8", mode="w+", shape=(20,))
m[:] = np.arange(20)
try:
    mt.from_array(m, chunks=3)[::-1].store(m)
except Exception as error:
    assert "read" in str(error), error
    m[:] = m[::-1].copy()
np.array(m)""",
        "np.arange(20)[::-1]",
    ),
    "hdf5 over itself": (
        """
import h5py
lazy(np.arange(6)).to_hdf5(here("h.h5"), datapath="d")
try:
    (mt.from_hdf5(here("h.h5"), dataset="d") + 1).to_hdf5(here("h.h5"), datapath="d")
except Exception as error:
    assert "read" in str(error), error
    shift = 0
else:
    shift = 1
with h5py.File(here("h.h5")) as file:
    r = file["d"][:] - shift
r""",
        "np.arange(6)",
    ),
    "views that would be large": (
        """
n = 10**6
a = mt.arange(n)
big = mt.meshgrid(a, a)[0][3, 4:6], mt.diag(a)[7, 5:9], mt.outer(a, a)[2, 5:7]
[*big, mt.pad(mt.ones(5), 10**10)[10**10 - 1:10**10 + 1], mt.repeat(mt.arange(10), 10**9)[-2:]]""",
        """
rows = [4, 5], [0, 0, 7, 0], [10, 12], [0.0, 1.0], [9, 9]
[np.array(row) for row in rows]""",
    ),
    "many repetitions": ("mt.tile(mt.arange(10), 10**9)[-3:]", "np.array([7, 8, 9])"),
    "steps of a long range": (
        "mt.arange(10**15)[::10**14]",
        "np.arange(0, 10**15, 10**14)",
    ),
}

#: What no reference refuses: sources that are shorter than they say.
FAILURES: dict[str, tuple[str, str]] = {
    "a short source": (
        """
class Source:
    shape, dtype, ndim = (10,), np.dtype(float), 1
    def __getitem__(self, key):
        return np.ones(4)
mt.from_array(Source(), chunks=10)""",
        "shape",
    ),
}
