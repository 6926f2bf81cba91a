// Package trust attacks a proxy from outside, beside one plain server with the same
// rows: whatever is sent, the proxy answers what the server does, or refuses it.
//
// A [stand] is that pair: a proxy before three shards, and the plain server. All tests
// of an engine share one: each finds its rows as they were at first, and leaves no
// objects. It has
// the tables of the sample shop (test_order, order_item: sharded; product: global;
// setting: single on s0) and two that nobody declares (plain, secret: on s0), with
// rows; and these users, whom the plain server has too, with the rights that come
// nearest:
//
//	app       everything
//	narrow    tables: test_order, product
//	database  databases: the stand's schema
//	reader    read_only
//	dml       ddl: false
//	careful   unfiltered: refuse
//
// An [attack] is a table's line. Each statement is said to the proxy first; what it
// refuses is not said to the plain server, and ends the attack. Else the answers must
// be equal: columns, rows in any order, affected rows, the last insert ID where no row
// was stamped, or the error's number. Then who looks must see the same on both sides,
// and all tables' rows must be equal on all servers, what is stamped aside. Text is
// bytes, in whatever character set the client says.
//
//	stands(t, func(t *testing.T, s *stand) {
//		s.try(t,
//			attack{name: "a comment that only the server ends", say: []string{"SELECT 1 --\x7f ' \n , COUNT(*) FROM test_order --\x7f '"}},
//			attack{name: "…", user: "narrow", refused: []string{"1142"}, say: []string{"SELECT * FROM secret"}},
//		)
//	})
//
// The grammar list in testdata/grammar has the clauses of the servers' manuals, one
// statement a line. Each is run on both sides, and the lines that are not answered alike
// are in a golden file for each server: go test -run TestGrammar -update rewrites it in
// half an hour, and -grammar EXPRESSION runs the lines that match.
//
// The rest compares readings, without rows: the probe of each byte in each place, and
// soups of tokens, between the servers' own lexers and the proxy's.
package trust
