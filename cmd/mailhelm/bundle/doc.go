// Package bundle is `mailhelm bundle`: it keeps the definitions of an organization, such as templates,
// segments and workflows, in a folder.
//
// This package defines the commands, what they print, and how they read and write folders. The server
// makes and applies plans; the commands call its public API with an API key. What the files mean is
// known to the packages in core/bundles.
package bundle
