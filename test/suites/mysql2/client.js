'use strict';
const mysql = require('mysql2');
const { endpoint } = require('harness');

// open makes a connection that ends with the case.
function open(scope, options = {}) {
  const connection = mysql.createConnection({ ...endpoint, ...options });
  connection.on('error', () => {}); // told to the command under way too
  scope.defer(() => connection.destroy());
  return connection;
}

// done makes a promise of a function that wants a callback.
function done(run) {
  return new Promise((resolve, reject) => run((error, ...values) => (error ? reject(error) : resolve(values.length > 1 ? values : values[0]))));
}

// ask runs a statement and gives all that a callback gets: rows or header, and
// what describes the columns.
function ask(connection, sql, params, how = 'query') {
  return new Promise((resolve, reject) => {
    connection[how](sql, params, (error, rows, fields) => (error ? reject(error) : resolve({ rows, fields: described(fields) })));
  });
}

const prepared = (connection, sql, params) => ask(connection, sql, params, 'execute');

// rows are a statement's rows alone.
async function rows(connection, sql, params) {
  return (await ask(connection, sql, params)).rows;
}

function described(fields) {
  if (!fields) return fields;
  return fields.map((f) =>
    f === undefined || Array.isArray(f)
      ? described(f)
      : {
          name: f.name, orgName: f.orgName, table: f.table, orgTable: f.orgTable, schema: f.schema, catalog: f.catalog,
          type: f.columnType, flags: f.flags, length: f.columnLength, characterSet: f.characterSet, decimals: f.decimals, encoding: f.encoding,
        },
  );
}

module.exports = { mysql, promise: require('mysql2/promise'), endpoint, open, done, ask, prepared, rows, described };
