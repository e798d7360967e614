//! The arguments that a function was specialised for. All that is shown is `specialized`.
//!
//! ```text
//! _TTSg5Si___TF4Demo5twiceurFxx          Demo.twice<A>(A) -> A, where A is Int
//! _TTSf4cpi3_d___TF4Demo3addFTSiSi_Si    Demo.add, where the first argument is 3, and the second is not used
//! ```

use super::Reader;

impl Reader<'_> {
    /// Reads a specialisation after `TS`: the number of an optimiser pass, and arguments.
    pub(super) fn specialization(&mut self) -> Option<()> {
        let is_generic = match self.next()? {
            b'g' | b'r' => true,
            b'f' => false,
            _ => return None,
        };
        self.skip("q");
        self.next().filter(u8::is_ascii_digit)?;
        let argument = if is_generic { Self::generic_argument } else { Self::argument };
        self.list(argument)?;
        // References in the rest of the name start again.
        self.known.clear();
        Some(())
    }

    /// A type, and how it conforms to the requirements.
    fn generic_argument(&mut self) -> Option<()> {
        self.ty()?;
        self.list(Self::conformance)?;
        Some(())
    }

    fn argument(&mut self) -> Option<()> {
        if self.skip("cp") {
            return self.constant();
        }
        if self.skip("cl") {
            self.identifier_or_operator()?;
            self.list(Self::ty)?;
            return Some(());
        }
        if ["n_", "i_", "k_", "r_"].iter().any(|word| self.skip(word)) {
            return Some(());
        }
        let options = ["d", "g", "o", "s"].iter().filter(|option| self.skip(option)).count();
        self.expect("_").filter(|()| options > 0)
    }

    fn constant(&mut self) -> Option<()> {
        if self.skip("fr") || self.skip("g") {
            self.identifier_or_operator()?;
        } else if self.skip("i") || self.skip("fl") {
            let (_, rest) = self.rest.split_at_checked(self.rest.find('_')?)?;
            self.rest = rest;
        } else if self.skip("se0v") || self.skip("se1v") {
            self.identifier_or_operator()?;
        } else {
            return None;
        }
        self.expect("_")
    }
}
