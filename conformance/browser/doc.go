// Package browser opens the product's pages in Chromium, as people see them:
// what they click, what they reach with the keyboard alone, what is sent where.
//
// A package whose tests use it hands its TestMain to [Main]; each test opens tabs
// with [Open]. All tabs of a run share one browser and each has cookies of its
// own. A tab fails its test when the page breaks its own content security policy,
// asks for something that is not there, throws an error or writes one to the
// console; when it is wider than a phone; and when a control of it cannot be
// reached with the tabulator key.
//
// The browser resolves no name but localhost, so nothing leaves the machine. A
// machine without Chromium skips these tests, unless CI is true.
//
// It owns no page and no test of what a page does to the data.
package browser
