"""Calls of Mars's public functions, one a line, for Mars and for marsdask alike.

They run in an interpreter of Mars too: Python 3.9, and nothing but Mars and NumPy. The last
statement of a line is the value; names stand for what ``namespace`` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CALLS = {
    "creation": """
mt.tensor(a)
mt.tensor(a, chunk_size=2)
mt.tensor([[1, 2], [3, 4]])
mt.tensor([[1, 2], [3, 4]], dtype='f4')
mt.tensor(3.5)
mt.tensor(True)
mt.tensor([])
mt.tensor('text')
mt.tensor(a, order='F')
mt.tensor(f)
mt.tensor(f, order='C')
mt.tensor(f, order='A')
mt.tensor(a, order='X')
mt.tensor([x[0], x[1]])
mt.array(a)
mt.array(a, copy=True, ndmin=3)
mt.array([1, 2, 3], ndmin=2)
mt.array(f, order='K')
mt.array(f, order='C')
mt.asarray([1, 2])
mt.asarray(x) is x
mt.asarray(a, dtype='i8')
mt.asarray(a, order='F')
mt.ascontiguousarray(f)
mt.asfortranarray(a)
mt.asfortranarray(x)
mt.zeros(3)
mt.zeros((2, 3), dtype='i4', chunk_size=1)
mt.zeros((2, 3), order='F')
mt.zeros((2, 3), order='X')
mt.zeros((2, 3), dtype=[('f', 'i4'), ('g', 'f8')])
mt.zeros(-1)
mt.zeros((2, 'x'))
mt.zeros_like(x)
mt.zeros_like(x, dtype='i4')
mt.zeros_like(xf)
mt.zeros_like(xf, order='C')
mt.ones((2, 3))
mt.ones((2, 3), order='F')
mt.ones((2, 3), dtype=bool, chunk_size=2)
mt.ones_like(x)
mt.ones_like(xf)
mt.ones_like(xf, order='C')
mt.full((2, 3), 7)
mt.full((2, 3), 7.5, chunk_size=1)
mt.full((2, 3), [1, 2, 3])
mt.full((2, 3), 7, dtype='f4')
mt.full((2, 3), 1, order='F')
mt.full((2, 3), [1, 2])
mt.full_like(x, 9)
mt.full_like(x, mt.nan, dtype='f4')
mt.full_like(xf, 2)
mt.empty((2, 3)).shape
mt.empty((2, 3), dtype='i2').dtype
mt.empty((2, 3), order='F').flags.f_contiguous
mt.empty_like(x).shape
mt.empty_like(xf).shape
mt.arange(5)
mt.arange(2, 10, 3)
mt.arange(2, 10, 3, dtype='f4')
mt.arange(5.0)
mt.arange(0, 1, 0.1)
mt.arange(5, 0)
mt.arange(5, chunk_size=2)
mt.arange(np.datetime64('2020-01-01'), np.datetime64('2020-01-05'))
mt.arange()
mt.arange(0, 5, 0)
mt.linspace(0, 1, 5)
mt.linspace(0, 1, 5, endpoint=False)
mt.linspace(0, 1, 5, retstep=True)
mt.linspace(0, 10, num=4, dtype='i8')
mt.linspace(2, 3, 1)
mt.linspace(0, 1, num=-1)
mt.eye(3)
mt.eye(3, 4, k=1)
mt.eye(3, k=-1, dtype='i4', chunk_size=2)
mt.eye(3, order='F')
mt.eye(3, sparse=True)
mt.eye(-1)
mt.identity(3)
mt.identity(3, dtype='i8', chunk_size=2)
mt.identity(3, sparse=True)
mt.diag([1, 2, 3])
mt.diag([1, 2, 3], k=1)
mt.diag(x)
mt.diag(x, k=-1)
mt.diag(v, sparse=True)
mt.diag(mt.ones((2, 2, 2)))
mt.diagflat([[1, 2], [3, 4]])
mt.diagflat(v, 1)
mt.tril(x)
mt.tril(x, -1)
mt.triu(x)
mt.triu(x, 1)
mt.tril(xf)
mt.meshgrid(v, i)
mt.meshgrid(v, i, indexing='ij')
mt.meshgrid(v, i, sparse=True)
mt.meshgrid(v, i, indexing='xx')
mt.mgrid[0:3, 0:2]
mt.mgrid[-1:1:5j]
mt.ogrid[0:3, 0:2]
mt.indices((2, 3))
mt.indices((2, 3), dtype='f8')
mt.r_[1:4, 0, 4]
mt.r_[x, x]
mt.c_[mt.tensor([1, 2, 3]), mt.tensor([4, 5, 6])]
mt.copy(x)
mt.copy(xf)
mt.copy(xf, order='C')
mt.fromhdf5('no such file', dataset='d')
""",
    "attributes": """
x.shape
x.ndim
x.size
x.dtype
len(x)
x.T
x.T.shape
x.real
x.imag
z.real
z.imag
x.flags.c_contiguous
x.flags.f_contiguous
xf.flags.f_contiguous
xf.flags.c_contiguous
x.flags['OWNDATA']
x.itemsize
x.nbytes
x.issparse()
s.issparse()
x.tosparse().issparse()
s.todense().issparse()
s.is_sparse()
x.flat[5]
x.flat[1:7:2]
x.flat[2] = 50; x
x.shape = (4, 3); x
x.shape = (5, 3)
x.shape = (-1, 2); x
x.real = 5; x
z.imag = 0; z
x.view('i8').shape
x.view('f4').shape
x.view('i4').dtype
x.view('c16')
v.view('c16')
x.astype('i4')
x.astype('i4').dtype
x.astype(int, order='F')
xf.astype('f4')
xf.astype('f4', order='C')
x.astype('i4', casting='safe')
x.astype('f8', copy=False) is x
x.copy()
xf.copy()
xf.copy(order='C')
x.flatten()
x.flatten(order='F')
x.ravel()
x.ravel(order='F')
x.ravel(order='K')
xf.ravel(order='K')
x.transpose()
x.transpose(1, 0)
x.transpose((0, 1))
x.transpose(0, 0)
x.swapaxes(0, 1)
x.squeeze()
x.repeat(2)
x.repeat(2, axis=1)
x.round(1)
x.take([0, 2])
x.take([0, 2], axis=1)
x.choose([x, x])
x.compress([True, False, True], axis=0)
x.dot(x.T)
x.cumsum()
x.cumsum(axis=1)
x.cumprod(axis=0)
x.all()
x.any(axis=1)
x.argmax()
x.argmin(axis=1)
x.max(axis=0)
x.min(axis=1, keepdims=True)
x.mean()
x.mean(axis=0)
x.std()
x.var(axis=1, ddof=1)
x.sum()
x.sum(axis=(0, 1))
x.sum(axis=-1, keepdims=True)
x.prod()
x.prod(axis=0)
x.nonzero()
x.conj()
z.conjugate()
x.rechunk(1)
x.rechunk((2, 3))
x.rebalance(num_partitions=2)
x.map_chunk(lambda c: c + 1)
x.map_chunk(lambda c: c.sum(axis=1), elementwise=False)
x.to_numpy()
x.sort(); x
x.sort(axis=0); x
xr = mt.tensor([[3, 1], [2, 5]]); xr.sort(); xr
xr = mt.tensor([[3, 1], [2, 5]]); xr.sort(axis=0); xr
xr = mt.tensor([5, 3, 1, 4]); xr.partition(2); xr[2]
x.execute() is x
x.execute().fetch()
x.fetch()
repr(x).startswith('Tensor <op=')
str(x).startswith('Tensor(op=')
bool(x)
float(x.sum())
int(mt.tensor(3))
3 in mt.tensor([1, 2, 3])
list(mt.tensor([1, 2]).execute())
[len(r) for r in x]
hash(x) == hash(x)
x == x
x != a
x is not None
x.no_such_attribute
mt.tensor(5)[()]
x.to_dataframe()
""",
    "indexing": """
x[0]
x[-1]
x[0, 1]
x[:, 1]
x[1:, ::2]
x[::-1]
x[:, ::-1]
x[..., 0]
x[None]
x[:, None, 1:]
x[mt.newaxis, 0]
x[[0, 2]]
x[[0, 2], [1, 3]]
x[[0, 2], 1:]
x[:, [3, 0]]
x[x > 4]
x[a > 4]
x[x > 100]
x[x[:, 0] > 3]
x[:, x[0] > 1]
x[mt.tensor([0, 2])]
x[mt.tensor([0, 2]), mt.tensor([1, 1])]
x[[[0, 1], [2, 0]]]
x[5]
x[0, 0, 0]
x['a']
x[1.5]
x[[True, False]]
x[..., ...]
x[np.array([], dtype=int)]
x[2:1]
x[-100:100]
mt.zeros(3, dtype=[('f', 'i4'), ('g', 'f8')])['f']
x[0] = 9; x
x[0, 1] = 9; x
x[:, 1] = [7, 8, 9]; x
x[x > 4] = 0; x
x[a > 4] = -1; x
x[::2] = x[0]; x
x[-1, -1] = 100; x
x[0] = 'a'; x.execute()
x[5] = 1; x.execute()
x[0] = [1, 2]; x.execute()
x[[0, 2]] = 5; x
x += 1; x
x *= 2; x
x -= x; x
x /= 2; x
i //= 2; i
i %= 2; i
i **= 2; i
i <<= 1; i
i &= 1; i
i /= 2; i
b = x[:2]; b[0, 0] = 100; x
b = x.T; b[0, 0] = 100; x
b = x.reshape(-1); b[0] = 100; x
b = x.ravel(); b[0] = 100; x
b = x[[0, 1]]; b[0, 0] = 100; x
b = x + 0; b[0, 0] = 100; x
b = x[:2]; x[0, 0] = 100; b
b = x.T; x[0, 0] = 100; b
b = x[1:, 1:]; b[...] = 0; x
b = x[0]; b += 1; x
b = mt.swapaxes(x, 0, 1); b[0] = 7; x
b = mt.squeeze(x[:1]); b[0] = 7; x
b = mt.expand_dims(x, 0); b[0, 0] = 7; x
b = mt.broadcast_to(v, (2, 4)); b[0] = 7
b = z.real; b[0] = 7; z
b = x.copy(); b[0] = 7; x
b = x[:2]; b.fill(3); x
p, q = mt.split(v, 2); p[0] = 99; v
mt.take(x, [1, 5])
mt.take(x, [0, 1], axis=1)
mt.take(x, [[0, 1], [2, 0]], axis=0)
mt.take(x, [100])
mt.take(x, [0, 5], axis=1)
mt.compress([0, 1, 1], x, axis=0)
mt.compress([True, False], v)
mt.compress([True, False, True, False, True], v)
mt.extract(x > 3, x)
mt.extract(mt.mod(x, 3) == 0, x)
mt.choose([2, 0, 1, 0], [v, v + 10, v + 20])
mt.choose([2, 0, 1, 0], [v, v + 10, v + 20], mode='wrap')
mt.choose([2, 0, 5, 0], [v, v + 10, v + 20])
mt.choose([2, 0, 5, 0], [v, v + 10, v + 20], mode='clip')
mt.nonzero(x)
mt.nonzero(x > 4)
mt.flatnonzero(x)
mt.argwhere(x > 8)
mt.count_nonzero(x)
mt.count_nonzero(x, axis=1)
mt.where(x > 4, x, 0)
mt.where(x > 4)
mt.where(x > 4, x)
mt.where([[True, False], [True, True]], [[1, 2], [3, 4]], [[9, 8], [7, 6]])
mt.unravel_index([1, 5], (3, 4))
mt.unravel_index([22, 41], (7, 6), order='F')
mt.unravel_index([100], (3, 4))
mt.fill_diagonal(x, 5); x
mt.fill_diagonal(x, [1, 2]); x
mt.fill_diagonal(v, 5)
y = mt.zeros((6, 3)); mt.fill_diagonal(y, 4, wrap=True); y
list(mt.ndindex(2, 2))
""",
    "manipulation": """
mt.reshape(x, (4, 3))
mt.reshape(x, -1)
mt.reshape(x, (2, -1))
mt.reshape(x, (4, 3), order='F')
mt.reshape(x, (5, 3))
mt.reshape(x, (-1, -1))
mt.reshape(xf, (4, 3), order='A')
x.reshape(4, 3)
x.reshape((4, 3), order='F')
mt.ravel(x)
mt.ravel(xf)
mt.ravel(xf, order='F')
mt.transpose(x)
mt.transpose(mt.ones((1, 2, 3)), (1, 0, 2))
mt.transpose(x, (0, 2))
mt.swapaxes(mt.ones((1, 2, 3)), 0, 2)
mt.swapaxes(x, 0, 5)
mt.moveaxis(mt.zeros((3, 4, 5)), 0, -1)
mt.moveaxis(mt.zeros((3, 4, 5)), [0, 1], [-1, -2])
mt.moveaxis(x, 0, 5)
mt.rollaxis(mt.zeros((3, 4, 5)), 2)
mt.rollaxis(x, 3)
mt.expand_dims(x, 0)
mt.expand_dims(x, 1)
mt.expand_dims(x, -1)
mt.expand_dims(x, 5)
mt.squeeze(mt.ones((1, 3, 1)))
mt.squeeze(mt.ones((1, 3, 1)), axis=0)
mt.squeeze(x, axis=0)
mt.atleast_1d(3)
mt.atleast_1d(3, [1, 2])
mt.atleast_2d(v)
mt.atleast_3d(v)
mt.atleast_3d(x)
mt.broadcast_to(v, (3, 4))
mt.broadcast_to(v, (3, 3))
mt.broadcast_to(v, 4)
mt.broadcast_arrays(v, x)
mt.broadcast_arrays([[1, 2, 3]], [[1], [2]])
mt.broadcast_arrays(v, mt.ones(3))
mt.concatenate([x, x])
mt.concatenate([x, x], axis=1)
mt.concatenate([x, i], axis=0)
mt.concatenate([x, v])
mt.concatenate([])
mt.concatenate([xf, xf])
mt.concatenate([s, s])
mt.concatenate((v, i))
mt.stack([x, x])
mt.stack([x, x], axis=2)
mt.stack([x, x], axis=-1)
mt.stack([x, v])
mt.stack([])
mt.stack([x, x], axis=5)
mt.vstack([v, v])
mt.vstack([x, v])
mt.hstack([v, v])
mt.hstack([x, x])
mt.dstack([x, x])
mt.dstack([v, v])
mt.column_stack([v, v])
mt.column_stack([x, x])
mt.block([[x, x], [x, x]])
mt.block([v, 9])
mt.append(v, [5, 6])
mt.append(x, x, axis=0)
mt.append(x, [[1, 2]], axis=0)
mt.split(x, 2, axis=1)
mt.split(v, [1, 3])
mt.split(v, 3)
mt.array_split(v, 3)
mt.array_split(x, 2)
mt.vsplit(mt.ones((4, 2)), 2)
mt.hsplit(x, 2)
mt.hsplit(v, [1])
mt.dsplit(mt.ones((2, 2, 4)), 2)
mt.dsplit(x, 2)
mt.vsplit(v, 2)
mt.tile(v, 2)
mt.tile(x, (2, 1))
mt.tile(v, (2, 2))
mt.repeat(3, 4)
mt.repeat(x, 2)
mt.repeat(x, 2, axis=0)
mt.repeat(x, [1, 0, 2], axis=0)
mt.repeat(x, [1, 2], axis=0)
mt.repeat(v, mt.tensor([1, 2, 0, 1]))
mt.delete(v, 1)
mt.delete(x, [0, 2], axis=0)
mt.delete(x, slice(0, 2), axis=1)
mt.delete(x, 1)
mt.delete(v, 10)
mt.insert(v, 1, 9)
mt.insert(x, 1, 5, axis=0)
mt.insert(x, [0, 2], 5, axis=1)
mt.insert(v, 10, 5)
mt.flip(x)
mt.flip(x, 0)
mt.flip(x, (0, 1))
mt.flip(x, 5)
mt.fliplr(x)
mt.flipud(x)
mt.fliplr(v)
mt.roll(v, 2)
mt.roll(x, 1)
mt.roll(x, 1, axis=0)
mt.roll(x, (1, -1), axis=(0, 1))
mt.roll(x, 1, axis=5)
mt.copyto(x, v); x
mt.copyto(x, 7, where=x > 4); x
mt.copyto(x, mt.ones((2, 2)))
mt.copyto(i, v); i
mt.shape(x)
mt.shape(0)
mt.ndim(x)
mt.ndim([[1]])
mt.result_type(x, i)
mt.result_type('i4', 'f4')
mt.rechunk(x, 1)
""",
    "elementwise": """
x + 1
x + x
x + v
x + mt.ones(3)
1 - x
x * 2.5
x / 0
x // 2
x % 3
x ** 2
2 ** x
-x
+x
abs(-x)
~i
~x
i << 1
i >> 1
i & 3
i | 1
i ^ 1
divmod(x, 3)
x @ x.T
x @ x
x < 4
x <= 4
x > v
x >= 4
x == 4
x != 4
x == 'text'
xf + 1
xf + xf
xf + x
mt.add(x, 1)
mt.add(x, x, order='F')
mt.add(x, x, dtype='f4')
mt.add(x, x, where=x > 4).shape
mt.add(x, x, out=x); x
o = mt.zeros((3, 4)); mt.add(x, 1, o); o
o = mt.zeros((3, 4)); mt.add(x, 1, out=o) is o
mt.add(x, 1, out=mt.zeros((2, 2)))
mt.add(x, 1, out=np.zeros((3, 4)))
mt.add(x, 1, casting='no', dtype='i4')
mt.add(x, 1, where=[[True, False, True, False]], out=mt.zeros((3, 4)))
mt.add(x)
mt.add('a', x)
mt.subtract(x, v)
mt.multiply(x, v)
mt.divide(x, 2)
mt.true_divide(i, 2)
mt.floor_divide(x, 2)
mt.floor_divide(i, 0)
mt.mod(x, 3)
mt.remainder(x, -3)
mt.fmod(x, -3)
mt.power(x, 2)
mt.power(i, -1)
mt.float_power(i, 2)
mt.negative(x)
mt.positive(x)
mt.absolute(-x)
mt.abs(z)
mt.fabs(-x)
mt.sign(x - 5)
mt.rint(x / 3)
mt.reciprocal(x + 1)
mt.sqrt(x)
mt.sqrt(-x - 1)
mt.cbrt(x)
mt.square(x)
mt.exp(x)
mt.exp2(x)
mt.expm1(x)
mt.log(x + 1)
mt.log(x)
mt.log2(x + 1)
mt.log10(x + 1)
mt.log1p(x)
mt.logaddexp(x, 1)
mt.logaddexp2(x, 1)
mt.sin(x)
mt.cos(x)
mt.tan(x)
mt.arcsin(x / 12)
mt.arccos(x / 12)
mt.arctan(x)
mt.arctan2(x, 2)
mt.sinh(x)
mt.cosh(x)
mt.tanh(x)
mt.arcsinh(x)
mt.arccosh(x + 1)
mt.arctanh(x / 13)
mt.hypot(x, 3)
mt.degrees(x)
mt.radians(x)
mt.deg2rad(x)
mt.rad2deg(x)
mt.sinc(x)
mt.i0(x)
mt.maximum(x, 5)
mt.minimum(x, v)
mt.fmax(x, mt.nan)
mt.fmin(x, mt.nan)
mt.greater(x, 5)
mt.greater_equal(x, 5)
mt.less(x, 5)
mt.less_equal(x, 5)
mt.equal(x, 5)
mt.not_equal(x, 5)
mt.logical_and(x, v)
mt.logical_or(x, v)
mt.logical_not(x)
mt.logical_xor(x, v)
mt.bitwise_and(i, 3)
mt.bitwise_or(i, 3)
mt.bitwise_xor(i, 3)
mt.bitwise_not(i)
mt.invert(i)
mt.left_shift(i, 2)
mt.right_shift(i, 2)
mt.bitwise_and(x, 3)
mt.isfinite(x / 0)
mt.isinf(x / 0)
mt.isnan(x / 0)
mt.iscomplex(z)
mt.isreal(z)
mt.isclose(x, x + 1e-9)
mt.isclose([mt.nan], [mt.nan], equal_nan=True)
mt.allclose(x, x + 1e-9)
mt.array_equal(x, x)
mt.array_equal(x, v)
mt.signbit(x - 5)
mt.copysign(x, -1)
mt.nextafter(x, 100)
mt.spacing(x)
mt.ldexp(x, 2)
mt.frexp(x)
mt.modf(x / 3)
o1, o2 = mt.zeros((3, 4)), mt.zeros((3, 4)); mt.modf(x / 3, o1, o2); o1
o1, o2 = mt.zeros((3, 4)), mt.zeros((3, 4)); mt.modf(x / 3, out=(o1, o2)); o2
mt.floor(x / 3)
mt.ceil(x / 3)
mt.trunc(x / 3)
mt.fix(x / 3)
mt.around(x / 3, 1)
mt.round_(x / 3, 2)
mt.clip(x, 2, 6)
mt.clip(x, None, 6)
mt.clip(x, v, 6)
mt.clip(x, None, None)
o = mt.zeros((3, 4)); mt.clip(x, 2, 6, out=o); o
mt.nan_to_num(x / 0)
mt.nan_to_num(x / 0, nan=3)
mt.real(z)
mt.imag(z)
mt.angle(z)
mt.angle(z, deg=True)
mt.conj(z)
mt.conjugate(z)
mt.tree_add(x, x, x)
mt.tree_multiply(x, x, x)
np.add(x, 1)
np.sqrt(x)
np.sum(x)
np.concatenate([x, x])
np.asarray(x)
np.mean(x, axis=0)
x.sum() + 1
mt.sin(i).dtype
mt.sqrt(mt.tensor([1], dtype='i1')).dtype
(i.astype('i1') + 1).dtype
(mt.tensor([1], dtype='f4') + 1.5).dtype
(mt.tensor([1], dtype='f4') + np.float64(1.5)).dtype
(mt.tensor([200], dtype='u1') + 100)
""",
    "reduction": """
mt.sum(x)
mt.sum(x, axis=0)
mt.sum(x, axis=(0, 1))
mt.sum(x, axis=5)
mt.sum(x, dtype='i4')
mt.sum(x, keepdims=True)
mt.sum(b8)
mt.sum(i.astype('i1')).dtype
mt.sum([])
mt.sum(x, combine_size=2)
o = mt.zeros(4); mt.sum(x, axis=0, out=o); o
mt.sum(x, axis=0, out=mt.zeros(3))
mt.sum(xf, axis=0)
mt.prod(x + 1)
mt.prod(x, axis=1)
mt.product(x, axis=0)
mt.mean(x)
mt.mean(x, axis=1)
mt.mean(i)
mt.mean([])
mt.mean(x, dtype='f4').dtype
mt.std(x)
mt.std(x, axis=0, ddof=1)
mt.std(x, ddof=100)
mt.var(x)
mt.var(z)
mt.var(x, axis=1, keepdims=True)
mt.max(x)
mt.amax(x, axis=1)
mt.max([])
mt.min(x)
mt.amin(x, axis=0)
mt.argmax(x)
mt.argmax(x, axis=0)
mt.argmax(x, axis=5)
mt.argmin(x)
mt.argmin(x, axis=1)
mt.argmax([])
mt.all(x)
mt.all(x, axis=1)
mt.any(x)
mt.any(x > 5, axis=0)
mt.all([])
mt.nansum(n)
mt.nansum(n, axis=0)
mt.nanprod(n)
mt.nanmean(n)
mt.nanmean(n, axis=1)
mt.nanstd(n)
mt.nanvar(n, axis=0)
mt.nanmax(n)
mt.nanmax(n, axis=0)
mt.nanmin(n)
mt.nanargmax(n)
mt.nanargmin(n, axis=0)
mt.nanargmax([mt.nan])
mt.cumsum(x)
mt.cumsum(x, axis=0)
mt.cumsum(x, axis=5)
mt.cumprod(x, axis=1)
mt.nancumsum(n)
mt.nancumsum(n, axis=1)
mt.nancumprod(n)
mt.diff(v)
mt.diff(x, axis=0)
mt.diff(x, n=2)
mt.diff(v, n=0)
mt.diff(v, n=-1)
mt.ediff1d(v)
mt.ediff1d(v, to_end=99, to_begin=[7, 8])
mt.ptp(x)
mt.ptp(x, axis=0)
mt.median(x)
mt.median(x, axis=0)
mt.median(x, axis=1, overwrite_input=True)
mt.average(x)
mt.average(x, axis=0, weights=[1, 2, 3])
mt.average(v, weights=[1, 2, 3, 4], returned=True)
mt.average(x, weights=[1, 2, 3])
mt.average(v, weights=[0, 0, 0, 0])
mt.cov(x)
mt.cov(x, rowvar=False)
mt.cov(x, ddof=0)
mt.cov(x, bias=True)
mt.corrcoef(x)
mt.corrcoef(x, rowvar=False)
mt.percentile(x, 50)
mt.percentile(x, [25, 75])
mt.percentile(x, 50, axis=0)
mt.percentile(x, 50, interpolation='lower')
mt.percentile(x, 101)
mt.percentile(v, mt.tensor([50, 75]))
mt.percentile(x, 50, axis=1, keepdims=True)
mt.quantile(x, 0.5)
mt.quantile(x, [0.25, 0.75], axis=1)
mt.quantile(x, 0.3, interpolation='nearest')
mt.quantile(x, 1.5)
o = mt.zeros(4); mt.quantile(x, 0.5, axis=0, out=o); o
mt.histogram(v, bins=3)
mt.histogram(x, bins=[0, 4, 8, 12])
mt.histogram(v, bins=4, range=(0, 8))
mt.histogram(v, bins=4, density=True)
mt.histogram(v, bins=3, weights=[1, 2, 3, 4])
mt.histogram(v, bins=0)
mt.histogram(v, bins=[3, 1])
mt.histogram(v, bins='auto')
mt.histogram_bin_edges(v, bins=4)
mt.histogram_bin_edges(v, bins='sturges')
mt.bincount(i)
mt.bincount(i, minlength=10)
mt.bincount(i, weights=[0.5, 1, 2, 3])
mt.bincount(x)
mt.bincount(v)
mt.bincount([-1, 2])
mt.digitize(v, [1, 2, 3])
mt.digitize(v, [1, 2, 3], right=True)
mt.digitize(v, [3, 2, 1])
mt.digitize(v, [1, 3, 2])
mt.trapz(v)
mt.trapz(v, x=[0, 2, 4, 8])
mt.trapz(x, dx=0.5, axis=0)
""",
    "sorting": """
mt.sort(u)
mt.sort(m)
mt.sort(m, axis=0)
mt.sort(m, axis=None)
mt.sort(u, kind='mergesort')
mt.sort(u, return_index=True)
mt.sort(m, axis=5)
mt.argsort(u)
mt.argsort(m, axis=0)
mt.argsort(m, axis=None)
mt.partition(u, 2)[2]
mt.partition(u, 2, return_index=True)[0][2]
mt.partition(u, 100)
mt.argpartition(u, 2)[2]
mt.topk(u, 2)
mt.topk(u, 2, largest=False)
mt.topk(u, 2, return_index=True)
mt.topk(m, 1, axis=0)
mt.argtopk(u, 2)
mt.argtopk(m, 1, axis=0)
mt.searchsorted(v, 2)
mt.searchsorted(v, [0.5, 9], side='right')
mt.searchsorted(u, 3, sorter=[1, 3, 0, 4, 2])
mt.searchsorted(x, 3)
mt.searchsorted(v, 2, side='up')
mt.unique(u2)
mt.unique(u2, return_index=True)
mt.unique(u2, return_inverse=True)
mt.unique(u2, return_counts=True)
mt.unique(m2, axis=0)
mt.unique(m2, axis=1)
mt.isin(v, [1, 3])
mt.isin(x, [1, 3], invert=True)
mt.in1d(v, [1, 3])
mt.union1d([1, 2, 4], [2, 5])
mt.setdiff1d(v, [1, 2])
mt.setdiff1d([3, 2, 4, 1], [3, 4, 5, 6], assume_unique=True)
""",
    "linalg": """
mt.dot(x, x.T)
mt.dot(v, v)
mt.dot(x, v)
mt.dot(3, 4)
mt.dot(x, x)
mt.dot(xf, xf.T)
o = mt.zeros((3, 3)); mt.dot(x, x.T, out=o); o
mt.vdot(v, v)
mt.vdot(z, z)
mt.vdot(x, v)
mt.inner(v, v)
mt.inner(x, x)
mt.inner(x, mt.ones(3))
mt.innerproduct(v, v)
mt.matmul(x, x.T)
mt.matmul(x, x.T, order='F')
mt.matmul(x, v)
mt.matmul(x, 3)
mt.matmul(mt.ones((2, 3, 4)), mt.ones((2, 4, 2)))
mt.tensordot(x, x, axes=2)
mt.tensordot(x, x.T, axes=1)
mt.tensordot(x, x, axes=([0], [0]))
mt.tensordot(x, x, axes=1)
mt.einsum('ij,kj->ik', x, x)
mt.einsum('ij->ji', x)
mt.einsum('ij', x)
mt.einsum('ii', mt.ones((3, 3)))
mt.einsum('ij,jk', x, x)
mt.einsum('i,i->', v, v, optimize=True)
mt.linalg.norm(x)
mt.linalg.norm(v, 1)
mt.linalg.norm(v, mt.inf)
mt.linalg.norm(v, 3)
mt.linalg.norm(x, 'fro')
mt.linalg.norm(x, 'nuc')
mt.linalg.norm(x, 1)
mt.linalg.norm(x, axis=1)
mt.linalg.norm(x, 2)
mt.linalg.norm(x, 'abc')
mt.linalg.norm(x, axis=0, keepdims=True)
mt.linalg.cholesky(pd_)
mt.linalg.cholesky(pd_, lower=True)
mt.linalg.cholesky(x)
mt.linalg.cholesky(-pd_)
abs(mt.linalg.qr(tall)[1])
mt.linalg.qr(tall)[0].shape
abs(mt.linalg.qr(tall, method='sfqr')[1])
mt.linalg.qr(v)
mt.linalg.qr(tall, method='abc')
mt.linalg.svd(tall)[1]
[t.shape for t in mt.linalg.svd(tall)]
[t.shape for t in mt.linalg.svd(tall.T)]
mt.linalg.svd(v)
[t.shape for t in mt.linalg.lu(pd_)]
mt.linalg.lu(pd_)[2]
mt.linalg.lu(pd_)[1]
mt.linalg.lu(pd_)[0]
mt.linalg.solve(pd_, [1, 2, 3])
mt.linalg.solve(pd_, pd_)
mt.linalg.solve(x, [1, 2, 3])
mt.linalg.solve(pd_, [1, 2])
mt.linalg.solve(mt.zeros((2, 2)), [1, 2])
mt.linalg.solve_triangular(mt.tril(pd_), [1, 2, 3], lower=True)
mt.linalg.solve_triangular(mt.triu(pd_), [1, 2, 3])
mt.linalg.inv(pd_)
mt.linalg.inv(x)
mt.linalg.inv(mt.zeros((2, 2)))
mt.linalg.randomized_svd(tall, 2, random_state=0)[1].shape
mt.linalg.matmul(x, x.T)
""",
    "fft": """
mt.fft.fft(v)
mt.fft.fft(x, axis=0)
mt.fft.fft(v, n=6)
mt.fft.fft(v, norm='ortho')
mt.fft.fft(v, norm='abc')
mt.fft.ifft(v)
mt.fft.fft2(x)
mt.fft.ifft2(x)
mt.fft.fftn(x)
mt.fft.ifftn(x, axes=(0,))
mt.fft.rfft(v)
mt.fft.rfft(z)
mt.fft.irfft(z)
mt.fft.rfft2(x)
mt.fft.irfft2(x)
mt.fft.rfftn(x)
mt.fft.irfftn(x)
mt.fft.hfft(z)
mt.fft.ihfft(v)
mt.fft.fftfreq(5)
mt.fft.fftfreq(4, d=0.5)
mt.fft.fftfreq(2.5)
mt.fft.rfftfreq(5)
mt.fft.fftshift(v)
mt.fft.fftshift(x, axes=1)
mt.fft.ifftshift(v)
""",
    "random": """
mt.random.rand(3, 4).shape
mt.random.rand(3, chunk_size=2).dtype
mt.random.randn(2, 2).shape
mt.random.randint(5, size=(3, 4)).dtype
mt.random.randint(2, 5, size=6, dtype='i4').dtype
mt.random.randint(5, 2)
mt.random.randint(1, 9, size=(8, 8), density=0.25).issparse()
mt.random.randint(1, 9, size=(8, 8), density=0.25, chunk_size=4).sum(axis=0).shape
mt.random.random_integers(5, size=3).shape
mt.random.random((2, 3)).shape
mt.random.random_sample(4).shape
mt.random.ranf(4).shape
mt.random.sample(4).shape
mt.random.choice(5, 3).shape
mt.random.choice(v, (2, 2), p=[0, 0, 1, 0])
mt.random.choice(5, 10, replace=False)
mt.random.choice(v, 2, p=[0.5, 0.5])
len(mt.random.bytes(5))
mt.random.permutation(5).shape
mt.sort(mt.random.permutation(v))
mt.random.shuffle(v); mt.sort(v)
mt.random.beta(2, 3, size=4).shape
mt.random.binomial(10, 0.5, size=4).dtype
mt.random.binomial(-1, 0.5)
mt.random.chisquare(2, size=4).shape
mt.random.dirichlet((1, 2, 3), 4).shape
mt.random.exponential(1.5, size=(2, 2)).shape
mt.random.exponential(-1)
mt.random.f(2, 3, 4).shape
mt.random.gamma(2, 3, size=4).shape
mt.random.geometric(0.3, size=4).dtype
mt.random.gumbel(size=4).shape
mt.random.hypergeometric(5, 6, 3, size=4).shape
mt.random.laplace(size=4).shape
mt.random.logistic(size=4).shape
mt.random.lognormal(size=4).shape
mt.random.logseries(0.5, size=4).shape
mt.random.multinomial(20, [1 / 6.0] * 6, size=3).shape
mt.random.multivariate_normal([0, 0], [[1, 0], [0, 1]], 5).shape
mt.random.negative_binomial(1, 0.1, 4).shape
mt.random.noncentral_chisquare(3, 20, 4).shape
mt.random.noncentral_f(3, 20, 3, 4).shape
mt.random.normal(0, 1, (2, 2)).shape
mt.random.normal(0, -1)
mt.random.normal(v, 1).shape
mt.random.normal(v, 1, size=3)
mt.random.pareto(3, 4).shape
mt.random.poisson(5, 4).dtype
mt.random.power(5, 4).shape
mt.random.rayleigh(3, 4).shape
mt.random.standard_cauchy(4).shape
mt.random.standard_exponential(4).shape
mt.random.standard_gamma(2, 4).shape
mt.random.standard_normal(4).shape
mt.random.standard_t(10, 4).shape
mt.random.triangular(-3, 0, 8, 4).shape
mt.random.uniform(-1, 0, 4).shape
mt.random.uniform(size=4, gpu=False).dtype
mt.random.vonmises(0, 4, 4).shape
mt.random.wald(3, 2, 4).shape
mt.random.weibull(5, 4).shape
mt.random.zipf(4, 4).shape
(mt.random.RandomState(0).rand(3) == mt.random.RandomState(0).rand(3))
mt.random.seed(1); r1 = mt.random.rand(3).execute().fetch(); mt.random.seed(1); r2 = mt.random.rand(3); r2 == r1
mt.random.RandomState('x')
r = mt.random.rand(3); r.execute().fetch() - r.fetch()
""",
    "special": """
mt.special.gammaln(x + 1)
mt.special.gamma(x + 1)
mt.special.erf(x)
mt.special.erfc(x)
mt.special.erfinv(x / 12)
mt.special.entr(x)
mt.special.rel_entr(x, 2)
mt.special.kl_div(x, 2)
mt.special.xlogy(x, 2)
mt.special.betainc(1, 2, x / 12)
mt.special.gammainc(1, x)
mt.special.beta(x + 1, 2)
mt.special.betaln(x + 1, 2)
mt.special.psi(x + 1)
mt.special.digamma(x + 1)
mt.special.polygamma(1, x + 1)
mt.special.multigammaln(x + 5, 2)
mt.special.airy(x)[0]
mt.special.jv(1, x)
mt.special.yv(1, x + 1)
mt.special.iv(1, x)
mt.special.kv(1, x + 1)
mt.special.hankel1(1, x + 1)
mt.special.hyp2f1(1, 2, 3, x / 13)
mt.special.ellipk(x / 13)
mt.special.ellipe(x / 13)
mt.special.fresnel(x)[1]
mt.special.dawsn(x)
mt.special.wofz(z)
mt.special.voigt_profile(x, 1, 2)
mt.special.poch(x, 2)
mt.special.rgamma(x + 1)
mt.special.itairy(x)[0]
mt.special.modfresnelp(x)[0]
mt.special.hyperu(1, 2, x + 1)
mt.stats.entropy([0.5, 0.5])
mt.stats.entropy([0.5, 0.5], [0.9, 0.1], base=2)
mt.stats.chisquare([16, 18, 16, 14, 12, 12])
mt.stats.power_divergence([16, 18, 16, 14], lambda_='log-likelihood')
mt.stats.ttest_ind(v, v + 1)
mt.stats.ttest_rel(v, mt.tensor([1.5, 2, 1, 4]))
mt.stats.ttest_1samp(v, 1)
mt.stats.ks_1samp(v / 4, 'norm')
mt.stats.ks_2samp(v, v + 1)
mt.stats.rankdata([0, 2, 3, 2])
mt.stats.rankdata([0, 2, 3, 2], method='min')
mt.spatial.distance.pdist(x)
mt.spatial.distance.cdist(x, x, 'cityblock')
mt.spatial.distance.squareform([1.0, 2.0, 3.0])
""",
    "sparse": """
s
s + 1
s + s
s - s
s * 2
s * s
s / 2
-s
abs(s)
s ** 2
s == 1
s > 0
s.sum()
s.sum(axis=0)
s.sum(axis=1)
s.max(axis=0)
s.mean()
s.T
s.dot(s.T)
mt.dot(s, s.T)
s @ s.T
mt.matmul(s, mt.ones((4, 2)))
s[0]
s[:, 1:]
s[0, 1]
s.astype('f4')
s.copy()
s.todense()
x.tosparse()
x.tosparse().todense()
mt.sqrt(s)
mt.sin(s)
mt.exp(s)
mt.cos(s)
mt.log1p(s)
mt.square(s)
mt.sign(s)
mt.add(s, s)
mt.multiply(s, mt.ones((3, 4)))
s * x
s + x
mt.maximum(s, s)
mt.where(s, s, s)
mt.isnan(s)
mt.nonzero(s)
mt.count_nonzero(s)
mt.concatenate([s, s], axis=1)
mt.vstack([s, s])
mt.transpose(s)
mt.repeat(s, 2, axis=0)
mt.zeros((3, 4), sparse=True)
mt.zeros_like(s)
mt.ones_like(s)
mt.eye(3, sparse=True).dot(mt.eye(3, sparse=True))
mt.digitize(s, [1, 2])
mt.special.gammaln(s)
mt.clip(s, 0, 1)
mt.around(s, 1)
mt.any(s, axis=0)
mt.all(s, axis=0)
mt.argmax(s, axis=0)
mt.split(s, 2, axis=1)
mt.reshape(s, (4, 3))
mt.tril(s)
mt.tensor(s).issparse()
""",
    "remote": """
mr.spawn(add_one, args=(1,))
mr.spawn(add_one, args=1)
mr.spawn(add_one, (1,), {})
mr.spawn(lambda: 3)
mr.spawn(add, args=(1,), kwargs={'y': 2})
mr.spawn(add, args=(mr.spawn(add_one, args=(1,)), 5))
mr.spawn(sum, args=([mr.spawn(add_one, args=(k,)) for k in range(4)],))
mr.spawn(lambda x: x['k'], args=({'k': mr.spawn(add_one, args=(1,))},))
mr.spawn(two, n_output=2)
mr.spawn(two, n_output=2)[1]
mr.spawn(two, n_output=3)
mr.spawn(add_one, args=(1,), n_output=2)
mr.spawn(add_one, args=(1,), nosuch=2)
mr.spawn(add_one, args=(1,), kwargs=[1])
mr.spawn(divide, args=(1, 0))
mr.spawn(add_one, args=(1,), retry_when_fail=True)
mr.spawn(lambda t: type(t).__name__, args=(mt.ones(3),))
mr.spawn(lambda t: t.sum().to_numpy(), args=(mt.ones(3, chunk_size=2),))
mr.spawn(lambda t: type(t).__name__, args=(mt.ones(3),), resolve_tileable_input=True)
mr.spawn(lambda t: float(t.sum()), args=(mt.ones(3),), resolve_tileable_input=True)
mr.spawn(lambda: mt.ones(3).sum().execute().fetch())
mr.spawn(lambda: None)
mr.spawn(dict, kwargs={'k': 1})
mr.ExecutableTuple([mr.spawn(add_one, args=(k,)) for k in range(3)])
mr.ExecutableTuple([mr.spawn(add_one, args=(k,)) for k in range(3)]).execute().fetch()
mr.spawn(add_one, args=(1,)).execute().fetch()
mr.spawn(add_one, args=(1,)).fetch()
mr.spawn(add_one, args=(1,)).to_object()
mr.spawn(3)
mr.spawn(add_one)
repr(mr.spawn(add_one, args=(1,))).startswith('Object <op=RemoteFunction')
mr.spawn(lambda w: w + 1, args=(mr.spawn(lambda: np.ones(2)),))
""",
    "session": """
mars.execute(x) is x
[type(t).__name__ for t in mars.execute(x, v)]
mars.execute(x, v); mars.fetch(x, v)
mars.execute([x, v]); [r.shape for r in mars.fetch(x, v)]
mars.fetch(x.execute())
mars.fetch(x)
x.execute(show_progress=False).fetch()
x.execute(wait=False).result().fetch()
x.execute(fuse_enabled=True).fetch()
x.execute(n_parallel=2).fetch()
x.execute(extra_config={}).fetch()
x.execute(nosuch=1).fetch().shape
mars.get_default_session() is not None
mt.ExecutableTuple([x, v]).execute() is not None
mt.ExecutableTuple([x, v]).execute().fetch()
mt.ExecutableTuple([x]).execute().fetch()
mt.ExecutableTuple([x, v]).to_object()
type(mt.linalg.svd(tall)).__name__
mars.get_default_session().get_total_n_cpu() > 0
type(mars.get_default_session().session_id).__name__
mars.config.options.chunk_store_limit
mars.config.options.eager_mode
mars.config.options.show_progress
mars.config.options.combine_size
mars.config.options.warn_duplicated_execution
mars.config.options.no_such_option
mars.config.options.chunk_size = 'abc'
mars.config.options.eager_mode = 5
with_option('eager_mode', True, lambda: repr(mt.ones(2) + 1))
with_option('chunk_size', 2, lambda: mt.ones(5).sum().execute().fetch())
with_option('nosuch.option', 2, lambda: 3)
""",
}


def add_one(x: Any) -> Any:
    """Return one more."""
    return x + 1


def add(x: Any, y: Any) -> Any:
    """Return the sum."""
    return x + y


def two() -> Any:
    """Return two values."""
    return 1, 2


def divide(x: Any, y: Any) -> Any:
    """Return the quotient."""
    return x / y


def namespace(mars: Any, mt: Any, mr: Any) -> dict[str, Any]:
    """Return the names of the calls, by a package and two of its modules."""
    a = np.arange(12.0).reshape(3, 4)
    dense = mt.tensor(np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 1]]), chunk_size=2)

    def with_option(name: str, value: Any, does: Any) -> Any:
        with mars.config.option_context({name: value}):
            return does()

    return {
        "mars": mars,
        "mt": mt,
        "mr": mr,
        "np": np,
        "a": a,
        "f": np.asfortranarray(a),
        "x": mt.tensor(a, chunk_size=2),
        "xf": mt.tensor(np.asfortranarray(a), chunk_size=2),
        "v": mt.tensor(np.arange(4.0), chunk_size=3),
        "i": mt.tensor(np.array([1, 3, 3, 6]), chunk_size=3),
        "b8": mt.tensor(np.array([True, False, True]), chunk_size=2),
        "z": mt.tensor(np.array([1 + 2j, 3 - 1j, 0j, 2j]), chunk_size=3),
        "n": mt.tensor(np.array([[1, np.nan, 3], [np.nan, 5, 6]]), chunk_size=2),
        "s": dense.tosparse() if hasattr(dense, "tosparse") else dense,
        "u": mt.tensor(np.array([3, 1, 5, 2, 4]), chunk_size=3),
        "u2": mt.tensor(np.array([3, 1, 3, 2, 1]), chunk_size=3),
        "m": mt.tensor(np.array([[3, 1, 2], [9, 0, 4]]), chunk_size=2),
        "m2": mt.tensor(np.array([[1, 1, 2], [1, 1, 2], [0, 0, 5]]), chunk_size=2),
        "pd_": mt.tensor(np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), chunk_size=2),
        "tall": mt.tensor(np.vander(np.arange(1.0, 7), 3), chunk_size=(3, 3)),
        "add_one": add_one,
        "add": add,
        "two": two,
        "divide": divide,
        "with_option": with_option,
    }
