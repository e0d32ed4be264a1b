// Package browser opens the product's pages in Chromium for tests: with clicks, with the
// keyboard alone, and with forms.
//
// A package whose tests use it passes its TestMain to [Main]; each test opens tabs with
// [Open]. All tabs of a run share one browser, and each has its own cookies. A tab fails
// its test if a page violates its content security policy, requests a missing file, or has
// an error in a script. [Tab.Picture] fails if a page is wider than a phone, and
// [Tab.ExpectReachable] if the Tab key does not reach a control.
//
// The browser resolves no host name but localhost, so no request leaves the machine. On a
// machine without Chromium the tests are skipped, unless the environment variable CI is
// true.
//
// The package itself contains no pages; it opens those of the running product. Other
// packages test what a page changes in the stored data.
package browser
