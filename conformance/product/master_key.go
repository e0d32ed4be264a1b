package product

import "github.com/mailhelm/mailhelm/core/signing"

// MasterKey returns the master key of the product.
func (p *Product) MasterKey() (signing.MasterKey, error) { return p.config.OpenMasterKey() }
