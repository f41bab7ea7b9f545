// ICU's data in English alone, in programs that are linked statically for a package.
//
// Libraries import Foundation, and Foundation brings what ICU knows of all languages: 34 MB in each program. Scripts/deb
// has packaging/icu-data take English out of that, and names the assembly that it wrote, which defines ICU's data under
// the name that ICU looks for. So the linker leaves the whole data out. Other builds have that, and nothing here.

#ifdef OOB_ICU_DATA
__asm__(".include \"" OOB_ICU_DATA "\"");
#endif
