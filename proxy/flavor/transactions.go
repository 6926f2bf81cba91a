package flavor

// KeepsCharacteristics reports whether a BEGIN that ends a transaction inherits its characteristics, such as READ ONLY.
func (f Flavor) KeepsCharacteristics() bool { return f == MySQL }

// BeginsBeforeColumns reports whether a statement with an unknown column starts a transaction, because its tables were
// opened.
func (f Flavor) BeginsBeforeColumns() bool { return f == MariaDB }

// HasTemporaryWithinXA reports whether temporary tables can be used within an XA transaction.
func (f Flavor) HasTemporaryWithinXA() bool { return f == MariaDB }

// KeepsLoginCharset reports whether COM_RESET_CONNECTION restores the character set of the login rather than the server's.
func (f Flavor) KeepsLoginCharset() bool { return f == MariaDB }

// ForgetsFoundRows reports whether FOUND_ROWS() after a failed query counts that query's rows rather than those of the one
// before it.
func (f Flavor) ForgetsFoundRows() bool { return f == MariaDB }
