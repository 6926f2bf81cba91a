// Package django runs those of Django's tests that are about databases, by
// mysqlclient.
package django
