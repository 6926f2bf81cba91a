// Package stmt turns SQL text into our statement.
//
// It owns two ways of reading a text. The fast one, [Lexed], runs on every statement. It strips the literals and
// returns the key under which a plan is cached, and the position of each literal. The full one, [Parse], runs once per
// key. Only it uses TiDB's parser. It returns tables, conditions and clauses with positions as [Anchor], which are
// valid for every text of the same key. The package never prints SQL from a syntax tree, because a parser's output
// isn't the text that was sent (docs/internals/adr/0004). It knows no tables and no sessions.
package stmt
