// Package handshake conducts the server side of a MySQL login: greeting, TLS, and the authentication plugins caching_sha2_password
// and mysql_native_password.
//
// It owns the exchange from the accepted connection to the decision. It never checks the requested database and never sends the final
// OK, since the session may find that the database doesn't exist. It knows neither where accounts come from nor their privileges.
//
// An unknown user is treated like one with a wrong password, with the same packets and the same work. See Directory.
package handshake
