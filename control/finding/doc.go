// Package finding is the type of a problem of a cluster, as every tool of an operator shows it: the page, the command line, the JSON
// answers and the metrics.
//
// It owns the severities, the identity of a finding, and the documents that acknowledge findings. It never checks anything and never
// decides how severe something is: the package that makes a finding does that.
package finding
