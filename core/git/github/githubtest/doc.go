// Package githubtest is a stand-in of GitHub for tests. It checks each request against the shapes of
// the public description of GitHub's REST API (shapes.go), and keeps repositories in memory.
package githubtest
