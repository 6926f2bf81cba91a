// Package sqlalchemy runs the suite that SQLAlchemy has for the authors of
// dialects, by each of the two drivers.
package sqlalchemy
