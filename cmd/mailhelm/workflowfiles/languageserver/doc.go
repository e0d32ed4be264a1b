// Package languageserver serves editors of workflow files with the Language Server Protocol
// 3.17: faults and warnings while one types, the meaning of words, completion, and
// formatting.
//
// An editor sends the whole text at each change. Positions of the protocol count UTF-16 code
// units. If the server knows an organization, names are checked and completed; it reads them
// in the background, so that editors do not wait for the network.
package languageserver
