// Package sequelize runs scenarios of Sequelize, an object-relational mapper of Node.js, over
// mysql2: in an undeclared database, compared with a plain server, and with the
// sharded tables of the shop.
package sequelize
