// Package workflowfiles is `mailhelm fmt`, `mailhelm check`, `mailhelm explain` and `mailhelm
// language-server`: the commands for workflows in files. They read files with the extension
// .workflow, and need no installation.
//
// This package defines the commands and what they print. Package names reads the names of an
// organization from a server, review finds faults, languageserver serves editors, and editors
// has the colours of the language.
package workflowfiles
