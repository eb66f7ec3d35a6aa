# The tests of examples/import; tests/CMakeLists.txt and matrix.cmake include this file. They need
# Python 3. Those that compile many tables are of `make matrix`.
find_program(MIMICDYN_PYTHON NAMES python3)
set(import_dir ${root}/examples/import)
set(import_test ${root}/tests/import/test_import.py)

function(import_check name)
    if(MIMICDYN_PYTHON)
        add_test(NAME import_${name} COMMAND ${MIMICDYN_PYTHON} -B ${import_test} ${ARGN})
    else()
        add_test(NAME import_${name} COMMAND sh -c "echo 'not run: no python3 here' && exit 77")
    endif()
    set_tests_properties(import_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
        ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endfunction()

if(MIMICDYN_PART STREQUAL programs)
    import_check(rules rules)
    import_check(names names)
    import_check(mutants mutants 3000)
    set_tests_properties(import_mutants PROPERTIES COST 100) # as readme
    import_check(current current)
    return()
endif()
foreach(compiler gcc clang)
    import_check(compile_${compiler} compile ${compiler})
endforeach()
foreach(file rack_gripper.urdf planetary.sdf shadow_fingers.xml)
    import_check(check_${file} check ${import_dir}/robots/${file})
endforeach()
import_check(check_curves check ${root}/tests/import/rules/curves.xml)
