// Package knex runs scenarios of Knex, a query builder of Node.js, over
// mysql2: in an undeclared database, compared with a plain server, and with the
// sharded tables of the shop.
package knex
