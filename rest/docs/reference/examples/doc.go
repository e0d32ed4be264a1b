// Package examples has the answers to the examples of the operations, which the
// documentation shows. A test in conformance/rest makes each call against the product with
// the data of the demo, and stores the answer in the folder answers.
package examples
