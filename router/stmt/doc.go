// Package stmt turns SQL text into our statement.
//
// It owns two readings of a text. The fast one, [Lexed], runs on every
// statement: it strips the literals, gives the key under which a plan is cached
// and says where each literal stands. The full one, [Parse], runs once per key:
// it alone speaks TiDB's parser, and gives tables, conditions and clauses with
// positions as [Anchor], which hold for every text of the same key. It never
// prints SQL back (a parser's output is not the text that was sent; see
// docs/adr/0004), knows no tables of its own and no sessions.
package stmt
