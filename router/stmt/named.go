package stmt

// Named are the tables that a statement names, those of subqueries too, once for each
// place. Names that a WITH of the text defines are not among them.
func (s *Statement) Named() []TableName {
	list := append([]TableName(nil), s.Tables...)
	if s.Insert != nil {
		list = append(list, s.Insert.Table)
	}
	for _, b := range s.Blocks {
		for _, t := range b.Tables {
			if !t.Derived && t.Name != "" {
				list = append(list, t.TableName)
			}
		}
	}
	return list
}
