-- The rows Q of queries.py, and rows D, as SQL that polars and duckdb both run: the queries of the
-- TPC-H specification, whose correlated subqueries are joins. Columns are those of the rows.

-- Q01
SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price,
  SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
  SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty,
  AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order
FROM lineitem WHERE l_shipdate <= TIMESTAMP '1998-09-02 00:00:00'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus

-- Q02
WITH offers AS (
  SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_phone, ps_supplycost
  FROM part JOIN partsupp ON p_partkey = ps_partkey JOIN supplier ON ps_suppkey = s_suppkey
    JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
  WHERE p_size = 15 AND p_type LIKE '%BRASS' AND r_name = 'EUROPE'
), cheapest AS (
  SELECT p_partkey AS partkey, MIN(ps_supplycost) AS least FROM offers GROUP BY p_partkey
)
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_phone
FROM offers JOIN cheapest ON p_partkey = partkey WHERE ps_supplycost = least
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100

-- Q03
SELECT l_orderkey, o_orderdate, o_shippriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON o_orderkey = l_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < TIMESTAMP '1995-03-15 00:00:00'
  AND l_shipdate > TIMESTAMP '1995-03-15 00:00:00'
GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10

-- Q04
WITH late AS (SELECT l_orderkey FROM lineitem WHERE l_commitdate < l_receiptdate)
SELECT o_orderpriority, COUNT(*) AS order_count FROM orders SEMI JOIN late ON o_orderkey = l_orderkey
WHERE o_orderdate >= TIMESTAMP '1993-07-01 00:00:00' AND o_orderdate < TIMESTAMP '1993-10-01 00:00:00'
GROUP BY o_orderpriority ORDER BY o_orderpriority

-- Q05
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON o_orderkey = l_orderkey
  JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
  JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
WHERE r_name = 'ASIA' AND o_orderdate >= TIMESTAMP '1994-01-01 00:00:00'
  AND o_orderdate < TIMESTAMP '1995-01-01 00:00:00'
GROUP BY n_name ORDER BY revenue DESC

-- Q06
SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= TIMESTAMP '1994-01-01 00:00:00' AND l_shipdate < TIMESTAMP '1995-01-01 00:00:00'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24

-- Q07
WITH sellers AS (
  SELECT s_suppkey, n_name AS supp_nation FROM supplier JOIN nation ON s_nationkey = n_nationkey
  WHERE n_name IN ('FRANCE', 'GERMANY')
), buyers AS (
  SELECT c_custkey, n_name AS cust_nation FROM customer JOIN nation ON c_nationkey = n_nationkey
  WHERE n_name IN ('FRANCE', 'GERMANY')
), shipping AS (
  SELECT supp_nation, cust_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year,
    l_extendedprice * (1 - l_discount) AS volume
  FROM lineitem JOIN sellers ON l_suppkey = s_suppkey JOIN orders ON l_orderkey = o_orderkey
    JOIN buyers ON o_custkey = c_custkey
  WHERE supp_nation <> cust_nation AND l_shipdate >= TIMESTAMP '1995-01-01 00:00:00'
    AND l_shipdate <= TIMESTAMP '1996-12-31 00:00:00'
)
SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue FROM shipping
GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year

-- Q08
WITH america AS (
  SELECT n_nationkey AS regional FROM nation JOIN region ON n_regionkey = r_regionkey
  WHERE r_name = 'AMERICA'
), sold AS (
  SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n_name
  FROM part JOIN lineitem ON p_partkey = l_partkey JOIN orders ON l_orderkey = o_orderkey
    JOIN customer ON o_custkey = c_custkey JOIN america ON c_nationkey = regional
    JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
  WHERE p_type = 'ECONOMY ANODIZED STEEL' AND o_orderdate >= TIMESTAMP '1995-01-01 00:00:00'
    AND o_orderdate <= TIMESTAMP '1996-12-31 00:00:00'
)
SELECT o_year, SUM(CASE WHEN n_name = 'BRAZIL' THEN volume ELSE 0.0 END) / SUM(volume) AS mkt_share
FROM sold GROUP BY o_year ORDER BY o_year

-- Q09
WITH profit AS (
  SELECT n_name, EXTRACT(YEAR FROM o_orderdate) AS o_year,
    l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
  FROM part JOIN partsupp ON p_partkey = ps_partkey JOIN supplier ON ps_suppkey = s_suppkey
    JOIN lineitem ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
    JOIN orders ON l_orderkey = o_orderkey JOIN nation ON s_nationkey = n_nationkey
  WHERE p_name LIKE '%green%'
)
SELECT n_name, o_year, SUM(amount) AS sum_profit FROM profit
GROUP BY n_name, o_year ORDER BY n_name, o_year DESC

-- Q10
SELECT c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment,
  SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON o_orderkey = l_orderkey
  JOIN nation ON c_nationkey = n_nationkey
WHERE o_orderdate >= TIMESTAMP '1993-10-01 00:00:00' AND o_orderdate < TIMESTAMP '1994-01-01 00:00:00'
  AND l_returnflag = 'R'
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC LIMIT 20

-- Q11
WITH stock AS (
  SELECT ps_partkey, ps_supplycost * ps_availqty AS cost
  FROM partsupp JOIN supplier ON ps_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
  WHERE n_name = 'GERMANY'
), whole AS (SELECT SUM(cost) * 0.0001 AS least FROM stock),
parts AS (SELECT ps_partkey, SUM(cost) AS value FROM stock GROUP BY ps_partkey)
SELECT ps_partkey, value FROM parts CROSS JOIN whole WHERE value > least ORDER BY value DESC

-- Q12
SELECT l_shipmode,
  CAST(SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS BIGINT) AS high_line_count,
  CAST(SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END) AS BIGINT) AS low_line_count
FROM orders JOIN lineitem ON o_orderkey = l_orderkey
WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= TIMESTAMP '1994-01-01 00:00:00'
  AND l_receiptdate < TIMESTAMP '1995-01-01 00:00:00'
GROUP BY l_shipmode ORDER BY l_shipmode

-- Q13
WITH plain AS (
  SELECT o_orderkey, o_custkey FROM orders WHERE o_comment NOT LIKE '%special%requests%'
), counts AS (
  SELECT c_custkey, COUNT(o_orderkey) AS c_count
  FROM customer LEFT JOIN plain ON c_custkey = o_custkey GROUP BY c_custkey
)
SELECT c_count, COUNT(*) AS custdist FROM counts
GROUP BY c_count ORDER BY custdist DESC, c_count DESC

-- Q14
SELECT 100.0 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0.0 END)
  / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem JOIN part ON l_partkey = p_partkey
WHERE l_shipdate >= TIMESTAMP '1995-09-01 00:00:00' AND l_shipdate < TIMESTAMP '1995-10-01 00:00:00'

-- Q15
WITH sold AS (
  SELECT l_suppkey, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem
  WHERE l_shipdate >= TIMESTAMP '1996-01-01 00:00:00' AND l_shipdate < TIMESTAMP '1996-04-01 00:00:00'
  GROUP BY l_suppkey
), best AS (SELECT MAX(total_revenue) AS most FROM sold)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
FROM supplier JOIN sold ON s_suppkey = l_suppkey CROSS JOIN best WHERE total_revenue = most
ORDER BY s_suppkey

-- Q16
WITH complained AS (
  SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%'
), offered AS (
  SELECT p_brand, p_type, p_size, ps_suppkey FROM partsupp JOIN part ON ps_partkey = p_partkey
  WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%'
    AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
)
SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
FROM offered ANTI JOIN complained ON ps_suppkey = s_suppkey
GROUP BY p_brand, p_type, p_size ORDER BY supplier_cnt DESC, p_brand, p_type, p_size

-- Q17
WITH bought AS (
  SELECT l_partkey, l_quantity, l_extendedprice FROM lineitem JOIN part ON l_partkey = p_partkey
  WHERE p_brand = 'Brand#23' AND p_container = 'MED BOX'
), means AS (SELECT l_partkey AS partkey, 0.2 * AVG(l_quantity) AS low FROM bought GROUP BY l_partkey)
SELECT COALESCE(SUM(l_extendedprice), 0.0) / 7.0 AS avg_yearly
FROM bought JOIN means ON l_partkey = partkey WHERE l_quantity < low

-- Q18
WITH large AS (
  SELECT l_orderkey, SUM(l_quantity) AS sum_qty FROM lineitem GROUP BY l_orderkey
  HAVING SUM(l_quantity) > 300
)
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum_qty
FROM orders JOIN large ON o_orderkey = l_orderkey JOIN customer ON o_custkey = c_custkey
ORDER BY o_totalprice DESC, o_orderdate LIMIT 100

-- Q19
SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem JOIN part ON l_partkey = p_partkey
WHERE l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON' AND (
  (p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
    AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
  OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
    AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
  OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
    AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15))

-- Q20
WITH forest AS (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%'), sold AS (
  SELECT l_partkey, l_suppkey, 0.5 * SUM(l_quantity) AS half FROM lineitem
  WHERE l_shipdate >= TIMESTAMP '1994-01-01 00:00:00' AND l_shipdate < TIMESTAMP '1995-01-01 00:00:00'
  GROUP BY l_partkey, l_suppkey
), stock AS (
  SELECT ps_suppkey FROM partsupp JOIN forest ON ps_partkey = p_partkey
    JOIN sold ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey WHERE ps_availqty > half
)
SELECT s_name, s_address FROM supplier JOIN nation ON s_nationkey = n_nationkey
  SEMI JOIN stock ON s_suppkey = ps_suppkey
WHERE n_name = 'CANADA' ORDER BY s_name

-- Q21
WITH late AS (
  SELECT l_orderkey, l_suppkey FROM lineitem WHERE l_receiptdate > l_commitdate
), several AS (
  SELECT l_orderkey AS order1, COUNT(DISTINCT l_suppkey) AS suppliers FROM lineitem GROUP BY l_orderkey
), alone AS (
  SELECT l_orderkey AS order2, COUNT(DISTINCT l_suppkey) AS suppliers2 FROM late GROUP BY l_orderkey
)
SELECT s_name, COUNT(*) AS numwait
FROM late JOIN several ON l_orderkey = order1 JOIN alone ON l_orderkey = order2
  JOIN supplier ON l_suppkey = s_suppkey JOIN orders ON l_orderkey = o_orderkey
  JOIN nation ON s_nationkey = n_nationkey
WHERE suppliers > 1 AND suppliers2 = 1 AND o_orderstatus = 'F' AND n_name = 'SAUDI ARABIA'
GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100

-- Q22
WITH people AS (
  SELECT SUBSTRING(c_phone, 1, 2) AS cntrycode, c_acctbal, c_custkey FROM customer
  WHERE SUBSTRING(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
), average AS (SELECT AVG(c_acctbal) AS mean FROM people WHERE c_acctbal > 0.0),
rich AS (SELECT cntrycode, c_acctbal, c_custkey FROM people CROSS JOIN average WHERE c_acctbal > mean)
SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM rich ANTI JOIN orders ON c_custkey = o_custkey GROUP BY cntrycode ORDER BY cntrycode

-- D01a_filter_groupby
SELECT CAST(SUM(v1) AS BIGINT) AS v1, AVG(v3) AS v3 FROM groupby WHERE v3 > 50 GROUP BY id1

-- D01b_groupby_str1e5
SELECT CAST(SUM(v1) AS BIGINT) AS v1, AVG(v3) AS v3 FROM groupby GROUP BY id3

-- D03a_merge_big
SELECT "left".key AS key, x, y FROM "left" JOIN "right" ON "left".key = "right".key

-- D03b_merge_small
SELECT kv.key AS key, v, w FROM kv JOIN small ON kv.key = small.key

-- D04_sort_values
SELECT key, x FROM "left" ORDER BY key

-- D02a_groupby_1e6
SELECT SUM(v) AS v FROM kv GROUP BY key

-- D02b_groupby_median
SELECT MEDIAN(v3) AS v3 FROM groupby GROUP BY id4, id5

-- D05_drop_dup
SELECT DISTINCT key FROM kv

-- D06_value_counts
SELECT COUNT(*) AS count FROM groupby GROUP BY id3 ORDER BY count DESC

-- D07a_read_csv
SELECT * FROM groupby_csv

-- D07b_csv_groupby
SELECT CAST(SUM(v1) AS BIGINT) AS v1, AVG(v3) AS v3 FROM groupby_csv GROUP BY id1

-- D09a_apply_rows
SELECT key % 7 * w AS number FROM small

-- D09b_groupby_apply
SELECT CORR(v1, v2) AS number FROM groupby GROUP BY id4

-- D11_str
SELECT COUNT(*) AS count FROM groupby WHERE id3 LIKE '%7'

-- D12_column_math
SELECT SUM(v1 * v2 + v3) AS total FROM groupby WHERE id4 > 50
