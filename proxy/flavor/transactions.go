package flavor

// KeepsCharacteristics tells whether a BEGIN that ends a transaction takes over what was said of that one: READ ONLY, say.
func (f Flavor) KeepsCharacteristics() bool { return f == MySQL }

// BeginsBeforeColumns tells whether a text that names an unknown column has begun a transaction, as its tables were opened.
func (f Flavor) BeginsBeforeColumns() bool { return f == MariaDB }

// HasTemporaryWithinXA tells whether temporary tables can be used within an XA transaction.
func (f Flavor) HasTemporaryWithinXA() bool { return f == MariaDB }

// KeepsLoginCharset tells whether COM_RESET_CONNECTION goes back to the character set of the login, and not to the server's.
func (f Flavor) KeepsLoginCharset() bool { return f == MariaDB }

// ForgetsFoundRows tells whether a query that failed has FOUND_ROWS() tell what it had found, and not what was found before.
func (f Flavor) ForgetsFoundRows() bool { return f == MariaDB }
