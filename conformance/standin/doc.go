// Package standin serves operations that a test declares itself at the agent
// endpoint: on the real rails, with a real database and over HTTP. It is for what
// the endpoint promises of any operation and the product's own cannot show, such as
// confirmations, pull requests and results of every shape.
//
// It owns no operation and no expectation. What concerns the product's operations is
// tested with package product.
package standin
