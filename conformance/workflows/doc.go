// Package workflows tests workflows of the running product: an assistant writes, tries and
// activates them by its tools, and an integrator reads them over REST.
package workflows
