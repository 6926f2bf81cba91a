// Package handshake conducts the server's side of a MySQL login: greeting, TLS, and the authentication plugins caching_sha2_password
// and mysql_native_password.
//
// It owns the conversation from accepting the connection up to the decision. It never looks at the database that the client asks for,
// never says OK (the session may still find that the database doesn't exist), and knows neither where accounts come from nor what
// they may do.
//
// Whoever has no account is treated like one who gave a wrong password, by the same packets and the same work: see Directory.
package handshake
