// Package mysqljs runs the tests of mysql, the older driver of Node.js, that ask
// a server; its others bring a server of their own.
//
// It knows the passwords of mysql_native_password alone, which MySQL 9 has no
// more: before MySQL it is held to what passes with MariaDB.
package mysqljs
