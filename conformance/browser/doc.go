// Package browser opens the product's pages in Chromium, as people use them: with
// clicks, with the keyboard alone, and with forms.
//
// A package whose tests use it passes its TestMain to [Main]; each test opens tabs with
// [Open]. All tabs of a run share one browser, and each has its own cookies. A tab fails
// its test if a page violates its own content security policy, requests something
// missing, throws an error or writes one to the console. It also fails if a page is
// wider than a phone, or if the Tab key does not reach a control.
//
// The browser resolves no name but localhost, so no request leaves the machine. On a
// machine without Chromium the tests are skipped, unless CI is true.
//
// It owns no page, and no test of a page's effect on data.
package browser
