'use strict';
const { go } = require('harness');
for (const part of ['connect', 'text', 'types', 'prepared', 'errors', 'several', 'session', 'streams', 'transactions', 'pools', 'schema']) {
  require(`./cases/${part}`);
}
go();
