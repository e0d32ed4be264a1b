// Package standin serves operations that a test declares at the agent endpoint: over HTTP,
// with a real database and the checks of the product. It tests what the product's own
// operations do not use, such as confirmations, pull requests and results of every form.
package standin
