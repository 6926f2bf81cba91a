// Package manifests holds the manifests below deploy/, and the Helm chart, to the types of the Kubernetes API, field by field, and to each other.
//
// It never asks a cluster: what an API server's admission would say beyond its types is not known here.
package manifests
