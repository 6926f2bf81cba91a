package meter

// Meter is all that one proxy counts. The zero value is ready; safe for
// concurrent use.
type Meter struct {
	Genes Genes
	Moves Moves
	Slow  Slow
}
