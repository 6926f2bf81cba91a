// Package manifests checks the manifests below deploy/, and the Helm chart, against the types of the Kubernetes API, field by
// field, and compares them with each other.
//
// It never uses a cluster, so it doesn't check the further rules by which an API server admits objects.
package manifests
