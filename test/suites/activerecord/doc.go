// Package activerecord runs tests of Rails' ActiveRecord, by mysql2: those of its
// adapter, of migrations, of transactions and of what else is said to the server.
package activerecord
