package config

// Role is what somebody may do over HTTP.
type Role string

// The roles.
const (
	Viewer Role = "viewer" // sees everything
	Admin  Role = "admin"  // also changes moves, and profiles the process
)
