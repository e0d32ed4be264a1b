// Package standin serves operations that a test declares, at the agent endpoint: on the
// real rails, with a real database and over HTTP. It tests rules of the endpoint that
// the product's own operations do not show, such as confirmations, pull requests and
// results of every shape.
//
// It owns no operation and no expectation. The product's operations are tested with
// package product.
package standin
