// Package timeline compares the timeline of a cluster with what a test did to it. It owns nothing but its test.
package timeline
