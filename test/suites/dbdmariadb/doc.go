// Package dbdmariadb runs the tests of Perl's DBD::MariaDB.
package dbdmariadb
