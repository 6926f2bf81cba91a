// Package dbdmysql runs the tests of Perl's DBD::mysql.
package dbdmysql
