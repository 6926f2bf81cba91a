// Package docs holds the documents under docs/ to the code that they describe:
// vectors, layouts, error codes, keys, metrics and links. It has no code that
// ships.
package docs
